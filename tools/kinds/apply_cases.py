#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a real kube-apiserver how it tracks field ownership.

    apply_cases.py KUBECONFIG > tests/data/apiserver/apply.jsonl

Every line is one write: the live object, what was sent, and the object (or the error) that came of it. The server's
version is in the first line.
"""
import json, random, ssl, subprocess, sys, urllib.error, urllib.parse, urllib.request

KUBECONFIG = sys.argv[1]


def kubectl(*args):
    out = subprocess.run(["kubectl", "--kubeconfig", KUBECONFIG, *args], check=True, capture_output=True, text=True)
    return out.stdout


config = json.loads(kubectl("config", "view", "--raw", "--minify", "-o", "json"))
SERVER = config["clusters"][0]["cluster"]["server"]
TOKEN = config["users"][0]["user"]["token"]
CONTEXT = ssl.create_default_context()
CONTEXT.check_hostname = False
CONTEXT.verify_mode = ssl.CERT_NONE


def send(method, path, body=None, kind="application/json"):
    data = None if body is None else json.dumps(body).encode()
    r = urllib.request.Request(SERVER + path, data=data, method=method)
    r.add_header("Authorization", "Bearer " + TOKEN)
    r.add_header("Content-Type", kind)
    try:
        with urllib.request.urlopen(r, context=CONTEXT) as f:
            return f.status, json.load(f)
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)


class Case:
    def __init__(self, name, path, type_id, has_status=False, schema=None):
        self.name, self.path, self.type, self.has_status, self.schema = name, path, type_id, has_status, schema
        self.live = None
        self.url = path + "/x"
        send("PATCH", self.url, {"metadata": {"finalizers": None}}, "application/merge-patch+json")
        send("DELETE", self.url + "?gracePeriodSeconds=0")

    def record(self, op, manager, sent, code, got, subresource="", force=False):
        line = {"case": self.name, "type": self.type, "op": op, "manager": urllib.parse.unquote(manager), "live": self.live, "code": code}
        if subresource:
            line["subresource"] = subresource
        if force:
            line["force"] = True
        if self.has_status:
            line["hasStatus"] = True
        if self.schema:
            line["schema"] = self.schema
        if op == "apply":
            line["sent"] = sent
        elif "managedFields" in sent.get("metadata", {}):
            line["owners"] = sent["metadata"]["managedFields"]
        if got.get("kind") == "Status":
            line["error"] = got["message"]
        else:
            line["want"] = got
            self.live = got
        if code in (200, 201, 409, 500, 400):
            print(json.dumps(line, separators=(",", ":"), sort_keys=True))
        else:
            print("not recorded:", self.name, code, got.get("message"), file=sys.stderr)

    def create(self, manager, body):
        code, got = send("POST", f"{self.path}?fieldManager={manager}", body)
        self.record("update", manager, body, code, got)

    def put(self, manager, change, sub=""):
        body = json.loads(json.dumps(self.live))
        change(body)
        code, got = send("PUT", f"{self.url}{'/' + sub if sub else ''}?fieldManager={manager}", body)
        self.record("update", manager, body, code, got, sub)

    def patch(self, manager, body, kind="application/merge-patch+json", sub=""):
        code, got = send("PATCH", f"{self.url}{'/' + sub if sub else ''}?fieldManager={manager}", body, kind)
        self.record("update", manager, body, code, got, sub)

    def apply(self, manager, body, force=False, sub=""):
        sent = dict(body)
        url = f"{self.url}{'/' + sub if sub else ''}?fieldManager={manager}&force={'true' if force else 'false'}"
        code, got = send("PATCH", url, sent, "application/apply-patch+yaml")
        self.record("apply", manager, sent, code, got, sub, force)


NS = "/namespaces/default"
CM = ("/api/v1" + NS + "/configmaps", "io.k8s.api.core.v1.ConfigMap")
DEPLOY = ("/apis/apps/v1" + NS + "/deployments", "io.k8s.api.apps.v1.Deployment", True)
SVC = ("/api/v1" + NS + "/services", "io.k8s.api.core.v1.Service", True)
SA = ("/api/v1" + NS + "/serviceaccounts", "io.k8s.api.core.v1.ServiceAccount")
ROLE = ("/apis/rbac.authorization.k8s.io/v1" + NS + "/roles", "io.k8s.api.rbac.v1.Role")


def cm(data=None, **meta):
    o = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", **meta}}
    if data is not None:
        o["data"] = data
    return o


def deploy(spec=None, pod=None, containers=None, pod_labels=None, **meta):
    o = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", **meta}}
    o["spec"] = {"selector": {"matchLabels": {"a": "b"}}, **(spec or {})}
    o["spec"]["template"] = {"metadata": {"labels": pod_labels or {"a": "b"}}, "spec": {**(pod or {})}}
    o["spec"]["template"]["spec"]["containers"] = containers or [{"name": "c", "image": "i"}]
    return o


def configmaps():
    c = Case("apply creates, changes, removes", *CM)
    c.apply("m", cm({"a": "1", "b": "2"}))
    c.apply("m", cm({"a": "1", "b": "2"}))
    c.apply("m", cm({"a": "3"}))
    c.apply("m", cm())
    c.apply("m", cm({}))

    c = Case("two appliers", *CM)
    c.apply("m", cm({"a": "1", "b": "2"}, labels={"x": "y"}))
    c.apply("n", cm({"a": "1"}))
    c.apply("n", cm({"a": "2", "b": "2"}))
    c.apply("n", cm({"a": "2", "b": "2"}), force=True)
    c.apply("m", cm({"a": "1", "b": "9"}))
    c.apply("m", cm({"b": "2"}))
    c.apply("n", cm({}))
    c.apply("m", cm())

    c = Case("updates take fields", *CM)
    c.create("one", cm({"a": "1", "b": "2"}, annotations={"q": "r"}))
    c.patch("two", {"data": {"a": "9"}})
    c.patch("two", {"data": {"b": None, "c": "1"}})
    c.apply("three", cm({"a": "1"}))
    c.apply("three", cm({"a": "1", "c": "2"}))
    c.apply("three", cm({"a": "9"}))
    c.apply("three", cm({"a": "1"}), force=True)
    c.patch("one", {"data": None})
    c.apply("three", cm({"a": "1"}))

    c = Case("client-side apply, then kubectl server-side", *CM)
    o = cm({"a": "1", "b": "2"})
    last = json.dumps(o, separators=(",", ":")) + "\n"
    o["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": last}
    c.create("kubectl-client-side-apply", o)
    c.apply("kubectl", cm({"a": "2", "b": "2"}))
    c.patch("other", {"data": {"b": "3"}})
    c.apply("kubectl", cm({"a": "2", "b": "4"}))

    c = Case("managers with odd names", *CM)
    c.create("a%20b%22c", cm({"a": "1"}))
    c.apply("m%2F%C3%A4", cm({"a": "2"}))

    c = Case("more than ten updaters", *CM)
    c.create("m0", cm({"k0": "0"}))
    for i in range(1, 14):
        c.patch(f"m{i}", {"data": {f"k{i}": "1"}})
    c.patch("m5", {"data": {"k5": "2"}})

    c = Case("managedFields taken away", *CM)
    c.create("one", cm({"a": "1", "b": "2"}))
    c.put("two", lambda o: o["metadata"].update(managedFields=[{}]))
    c.patch("three", {"data": {"a": "2"}})
    c.apply("four", cm({"a": "3"}))
    c.apply("four", cm({"a": "2"}))

    c = Case("errors", *CM)
    c.apply("m", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "junk": 1})
    c.apply("m", cm({"a": 1}))
    c.apply("m", cm(["a"]))
    c.apply("m", cm("a"))
    c.apply("m", {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "x"}})
    c.apply("m", cm(finalizers=["a/b", "a/b"]))
    c.apply("m", cm(finalizers=[{"a": 1}]))
    c.apply("m", cm(ownerReferences=[{"uid": "u", "kind": "A", "name": "a", "apiVersion": "v1"}, {"uid": "u"}]))
    c.apply("m", cm(ownerReferences=[None]))

    c = Case("sets and atomic parts", *SA)
    sa = lambda **f: {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "x", **f.pop("meta", {})}, **f}
    c.apply("m", sa(meta={"finalizers": ["a/b", "c/d"]}, secrets=[{"name": "s"}, {"name": "t"}]))
    c.apply("n", sa(meta={"finalizers": ["e/f", "a/b"]}, secrets=[{"name": "u"}, {"name": "s"}]))
    c.apply("m", sa(meta={"finalizers": ["c/d"]}, secrets=[{"name": "t"}]))
    c.apply("m", sa(meta={"finalizers": []}, imagePullSecrets=[{"name": "p"}]))
    c.apply("n", sa(meta={"finalizers": []}, imagePullSecrets=[{"name": "q"}]))

    c = Case("rules are one value", *ROLE)
    role = lambda *r: {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "x"}, "rules": list(r)}
    pods = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    c.create("one", role(pods))
    c.apply("m", role(pods))
    c.apply("m", role(pods, pods))
    c.apply("m", role(pods, pods), force=True)
    c.apply("m", {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "x"}})


def deployments():
    c = Case("deployment by create, patch, apply", *DEPLOY)
    c.create("one", deploy({"replicas": 2}, pod_labels={"a": "b", "x": "y"}))
    c.patch("two", {"spec": {"replicas": 5}})
    c.apply("m", deploy({"replicas": 3}, pod_labels={"a": "b", "x": "z"}))
    c.apply("m", deploy({"replicas": 5}))
    c.apply("m", deploy({"replicas": 3}), force=True)
    c.apply("m", deploy(containers=[{"name": "c", "image": "i2"}, {"name": "d", "image": "i"}]), force=True)
    c.apply("m", deploy(containers=[{"name": "d", "image": "i"}, {"name": "e", "image": "i", "env": [{"name": "A", "value": "1"}]}]))
    c.apply("m", deploy(containers=[{"name": "d", "image": "i"}]))
    c.patch("s", {"status": {"replicas": 1}}, sub="status")
    c.patch("s", {"status": {"conditions": [{"type": "A", "status": "True"}]}, "spec": {"replicas": 1}, "metadata": {"labels": {"q": "1"}, "annotations": {"t": "1"}}},
            sub="status")
    c.apply("t", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "status": {"readyReplicas": 1, "replicas": 2}}, sub="status")
    c.apply("m", {**deploy(), "status": {"replicas": 7}}, force=True)

    c = Case("deployment by apply alone", *DEPLOY)
    d = deploy({"strategy": {"type": "Recreate"}, "template": None}, {"volumes": [{"name": "v", "emptyDir": {}}], "nodeSelector": {"a": "b"},
               "tolerations": [{"key": "a"}]},
               [{"name": "c", "image": "i", "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}],
                 "resources": {"limits": {"cpu": "1"}}, "args": ["a", "b"], "command": []}])
    c.apply("m", d)
    c.apply("n", deploy(None, {"nodeSelector": {"a": "c"}, "volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]}))
    c.apply("n", deploy(None, {"nodeSelector": {"a": "c"}, "tolerations": []}), force=True)
    d["spec"]["template"]["spec"]["containers"][0]["ports"].pop(0)
    c.apply("m", d, force=True)
    c.apply("n", deploy(containers=[{"name": "c", "image": "j"}, {"name": "b", "image": "i"}]))

    c = Case("deployment errors", *DEPLOY)
    c.apply("m", deploy(containers=[{"name": "c"}, {"name": "c"}]))
    c.apply("m", deploy(containers=[{"name": "c", "ports": [{"containerPort": 1}, {"containerPort": 1, "protocol": "TCP"}]}]))
    c.apply("m", deploy(containers=["c"]))
    c.apply("m", deploy(containers=[None]))
    c.apply("m", deploy({"replicas": "x"}))
    c.apply("m", deploy({"paused": {"a": 1}}))
    c.apply("m", deploy(containers=[{"name": "c", "image": {"a": [1, "b"]}}]))

    c = Case("service ports", *SVC)
    svc = lambda *p, **s: {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"ports": list(p), "selector": {"a": "b"}, **s}}
    c.apply("m", svc({"port": 80}, {"port": 443, "name": "s"}) if False else svc({"port": 80, "name": "h"}, {"port": 443, "name": "s"}))
    c.apply("n", svc({"port": 80, "name": "h", "targetPort": 8080}))
    c.apply("n", svc({"port": 80, "name": "h", "targetPort": 8080}), force=True)
    c.apply("m", svc({"port": 443, "name": "s"}))
    c.apply("m", svc({"port": 443, "name": "s"}, {"port": 80, "protocol": "UDP", "name": "u"}))
    c.apply("m", svc({"port": 53, "protocol": "UDP", "name": "u"}, {"port": 443, "name": "s"}, selector={"a": "c"}), force=True)


def random_writes(seed):
    r = random.Random(seed)
    c = Case(f"random {seed}", *DEPLOY)

    def some(names, chance=0.6):
        return [n for n in names if r.random() < chance]

    def container(n):
        o = {"name": n, "image": r.choice("ij")}
        if r.random() < 0.5:
            o["env"] = [{"name": e, "value": r.choice("12")} for e in r.sample("ABCD", r.randint(0, 3))]
        if r.random() < 0.3:
            o["args"] = some("xyz")
        if r.random() < 0.3:
            o["resources"] = {"limits": {k: "1" for k in some(["cpu", "memory"])}}
        return o

    def any_deploy():
        names = r.sample("cdef", r.randint(1, 3))
        pod = {}
        if r.random() < 0.5:
            pod["volumes"] = [{"name": v, "emptyDir": {} if r.random() < 0.5 else {"medium": "Memory"}} for v in r.sample("uvw", r.randint(0, 3))]
        if r.random() < 0.3:
            pod["nodeSelector"] = {k: r.choice("12") for k in some("pq")}
        spec = {"replicas": r.randint(1, 3)} if r.random() < 0.5 else {}
        meta = {"labels": {k: r.choice("12") for k in some("rs")}} if r.random() < 0.5 else {}
        return deploy(spec, pod, [container(n) for n in names], {"a": "b", **{k: r.choice("12") for k in some("tu", 0.3)}}, **meta)

    for _ in range(8):
        manager = r.choice(["m", "n", "o"])
        what = r.random()
        if what < 0.65 or not c.live:
            c.apply(manager, any_deploy(), force=r.random() < 0.5)
        elif what < 0.85:
            c.patch(manager, {"spec": {"replicas": r.randint(1, 4), "template": {"spec": {"containers": [container(n) for n in r.sample("cdef", 2)]}}}},
                    "application/strategic-merge-patch+json")
        else:
            c.put(manager, lambda o: o["spec"].update(template=any_deploy()["spec"]["template"]))


CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.cases.example.com"},
    "spec": {"group": "cases.example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
             "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {
                 "type": "object", "properties": {
                     "status": {"type": "object", "properties": {"n": {"type": "integer"}}},
                     "spec": {"type": "object", "properties": {
                         "plain": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
                         "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                         "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "kind"],
                                 "items": {"type": "object", "required": ["name"], "properties": {
                                     "name": {"type": "string"}, "kind": {"type": "string", "default": "K"}, "v": {"type": "integer"}}}},
                         "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
                         "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                         "strings": {"type": "object", "additionalProperties": {"type": "string"}},
                         "port": {"x-kubernetes-int-or-string": True},
                         "n": {"type": "integer", "nullable": True}}}}}}}]}}


def custom():
    send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD)
    kubectl("wait", "--for=condition=Established", "crd/things.cases.example.com")
    schema = CRD["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    kind = ("/apis/cases.example.com/v1" + NS + "/things", "", True, schema)
    thing = lambda spec=None, **f: {"apiVersion": "cases.example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, **({"spec": spec} if spec is not None else {}), **f}

    c = Case("custom by apply", *kind)
    c.apply("m", thing({"plain": [{"a": "1"}], "set": ["a", "b"], "map": [{"name": "n", "v": 1}], "whole": {"a": "1"},
                        "free": {"x": {"y": [1, {"z": 2}]}}, "strings": {"p": "q"}, "port": 80}))
    c.apply("n", thing({"plain": [{"a": "2"}], "set": ["c", "a"], "map": [{"name": "n", "v": 2}, {"name": "n", "kind": "L"}], "whole": {"b": "1"},
                        "free": {"x": {"y": [2]}}, "strings": {"r": "s"}, "port": "http"}))
    c.apply("n", thing({"set": ["c", "a"], "map": [{"name": "n", "kind": "L"}, {"name": "n", "v": 1}], "free": {"x": {"w": 1}}, "strings": {"r": "s", "p": "q"}}))
    c.apply("m", thing({"set": ["b"], "strings": {}}))
    c.apply("m", thing({}))
    c.apply("n", thing())
    c = Case("custom by create and status", *kind)
    c.create("one", thing({"n": 1, "strings": {"a": "b"}, "set": ["x"]}, status={"n": 1}))
    c.patch("two", {"status": {"n": 2}, "spec": {"n": 3}}, sub="status")
    c.apply("three", thing({"n": 2}, status={"n": 3}))
    c.apply("three", thing({"n": 1}))
    c.apply("three", thing(status={"n": 3}), sub="status")
    c.apply("three", thing(status={"n": 3}), sub="status", force=True)
    c.patch("four", {"spec": {"n": None, "free": {"a": {"b": {}}}}})
    c.apply("three", thing({"n": 1, "free": {"a": {"b": {"c": 1}}}}))
    c.apply("three", thing({"junk": 1}))
    c.apply("three", thing({"set": ["a", "a"]}))
    c.apply("three", thing({"map": [{"v": 1}]}))
    send("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.cases.example.com")


print(json.dumps({"kube-apiserver": send("GET", "/version")[1]["gitVersion"]}))
configmaps()
deployments()
for seed in range(8):
    random_writes(seed)
custom()
