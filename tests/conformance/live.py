#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Objects of a release, one a line, in a form that two installations can be compared by.

    live.py dump KUBECONFIG NAME     objects in the namespace NAME and cluster-scoped ones of the release NAME; CRDs
    live.py clear KUBECONFIG NAME FILE   deletes what a dump in FILE has and is still there
    live.py compare A B              prints the differences

Not compared, because the server or a random generator makes them anew each time: uid, resourceVersion, creationTimestamp,
managedFields, generation; cluster IPs and node ports; status, which is the simulation's. Passwords that a chart draws
(keys named *password* of Secrets) and the checksums in annotations that follow from them. Left out: what controllers
make of objects (Pods, ReplicaSets, Endpoints, …), Events, release records (helm_releases.sh looks at them) and our own.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fault"))
from faults import Api, DERIVED, difference

MADE_ANEW = {"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "clusterIP", "clusterIPs",
             "nodePort", "healthCheckNodePort", "selfLink", "status"}


def masked(v, path=""):
    if isinstance(v, dict):
        return {k: "MASKED" if re.match(r"checksum/", k) or (path.startswith("/data") and "password" in k) else masked(x, path + "/" + k)
                for k, x in v.items() if k not in MADE_ANEW}
    return [masked(x, path) for x in v] if isinstance(v, list) else v


def objects(api, name):
    """[(path to delete it by, object)]"""
    groups = ["/api/v1"] + ["/apis/" + g["preferredVersion"]["groupVersion"] for g in api.get("/apis")["groups"]]
    for group in groups:
        for r in (api.get(group) or {}).get("resources", []):
            if "/" in r["name"] or "list" not in r["verbs"] or r["name"] in DERIVED or "pintle.dev" in group:
                continue
            home = group + ("/namespaces/" + name if r["namespaced"] else "")
            for o in (api.get("%s/%s" % (home, r["name"])) or {}).get("items", []):
                meta = o["metadata"]
                ours = (meta.get("annotations") or {}).get("meta.helm.sh/release-name") == name
                crd = r["name"] == "customresourcedefinitions" and not meta["name"].endswith(".pintle.dev")
                if (r["namespaced"] or ours or crd) and meta["name"] not in ("kube-root-ca.crt", "default") \
                        and o.get("type") != "helm.sh/release.v1":
                    yield "%s/%s/%s" % (home, r["name"], meta["name"]), o


def load(path):
    with open(path) as f:
        return {k: v for k, v in (json.loads(line) for line in f)}


def main():
    if sys.argv[1] == "dump":
        for path, o in sorted(objects(Api(sys.argv[2]), sys.argv[3]), key=lambda x: x[0]):
            print(json.dumps([path, masked(o)], sort_keys=True))
    elif sys.argv[1] == "clear":
        api = Api(sys.argv[2])
        for path in load(sys.argv[4]):
            if api.get(path):
                api.do("DELETE", path + "?propagationPolicy=Background")
    else:
        a, b = load(sys.argv[2]), load(sys.argv[3])
        for path in sorted(set(a) | set(b)):
            d = "only helm has it" if path not in b else "helm does not have it" if path not in a else difference(a[path], b[path])
            if d:
                print(path + ": " + d)


main()
