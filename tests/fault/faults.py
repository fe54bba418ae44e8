# SPDX-License-Identifier: Apache-2.0
"""What the kill runs share: a proxy that numbers writes and kills a process at one of them, a client of the API, and the
state of a namespace in a form that two runs can be compared by."""
import base64
import gzip
import http.client
import json
import os
import re
import shutil
import signal
import socket
import socketserver
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PINTLE = os.environ.get("PINTLE", os.path.join(ROOT, "build/pintle"))
GROUP = "/apis/pintle.dev/v1alpha1"
WRITES = ("POST", "PUT", "PATCH", "DELETE")
CANARY = "canary-in-a-secret"


class Report:
    """Counts as tests/lib/check.sh does."""

    def __init__(self):
        self.lock, self.passed, self.failed = threading.Lock(), 0, 0

    def check(self, name, fault):
        """`fault` is "" or what is wrong."""
        with self.lock:
            self.passed, self.failed = self.passed + (not fault), self.failed + bool(fault)
            if fault:
                print("FAIL %s: %s" % (name, fault), flush=True)

    def finish(self):
        print("%d passed, %d failed" % (self.passed, self.failed), flush=True)
        sys.exit(self.failed > 0)


# ---- processes ---------------------------------------------------------------------------------------------------------


class Process:
    """A program with its output in files; killed at the latest when the run ends."""

    running = []

    def __init__(self, work, name, *args, env=None):
        self.log = os.path.join(work, name + ".log")
        self.out = os.path.join(work, name + ".out")
        with open(self.log, "ab") as log, open(self.out, "wb") as out:
            self.p = subprocess.Popen(args, stdout=out, stderr=log, stdin=subprocess.DEVNULL,
                                      env={**os.environ, **(env or {})})
        self.pid = self.p.pid
        Process.running.append(self)

    def said(self, pattern, seconds=30):
        """The first match in its standard output."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.p.poll() is None:
            with open(self.out) as f:
                found = re.search(pattern, f.read())
            if found:
                return found.group(found.lastindex or 0)
            time.sleep(0.01)
        with open(self.log) as f:
            sys.exit("%s did not say %s:\n%s" % (self.p.args, pattern, f.read()[-2000:]))

    def end(self, number=signal.SIGTERM):
        if self.p.poll() is None:
            self.p.send_signal(number)
        return self.p.wait(30)


def end_all():
    for p in reversed(Process.running):
        p.end(signal.SIGKILL)
    Process.running.clear()


class Work:
    """A folder that goes away with the run, KEEP_TMP apart; processes end before it does."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="pintle-fault.")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        return self.path

    def __exit__(self, *_):
        end_all()
        if os.environ.get("KEEP_TMP"):
            print("kept", self.path)
        else:
            shutil.rmtree(self.path, ignore_errors=True)


def pack(folder, name, into):
    """A chart folder as an archive; its version."""
    with open(os.path.join(folder, name, "Chart.yaml")) as f:
        version = re.search(r"^version: *(\S+)", f.read(), re.M).group(1)
    with tarfile.open(os.path.join(into, "%s-%s.tgz" % (name, version)), "w:gz") as t:
        t.add(os.path.join(folder, name), name)
    return version


# ---- the API -----------------------------------------------------------------------------------------------------------


def read_kubeconfig(path):
    with open(path) as f:
        text = f.read()
    field = lambda name: re.search(r"\b%s: *\"?([^\"\s]+)" % name, text).group(1)
    server = re.match(r"https://([^:]+):(\d+)", field("server"))
    return server.group(1), int(server.group(2)), field("token")


def tls():
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Api:
    """One connection, reopened when the server has closed it. Not for several threads."""

    def __init__(self, kubeconfig):
        self.host, self.port, self.token = read_kubeconfig(kubeconfig)
        self.c = None

    def do(self, method, path, body=None, kind="application/json"):
        """(status, object)"""
        headers = {"Authorization": "Bearer " + self.token, "Accept": "application/json", "Content-Type": kind}
        for last in (False, True):
            try:
                if not self.c:
                    self.c = http.client.HTTPSConnection(self.host, self.port, context=tls(), timeout=30)
                self.c.request(method, path, json.dumps(body) if body is not None else None, headers)
                answer = self.c.getresponse()
                text = answer.read()
                return answer.status, json.loads(text) if text.lstrip()[:1] == b"{" else {"message": text.decode()}
            except (OSError, http.client.HTTPException, ValueError):
                self.c = None
                if last:
                    raise

    def get(self, path):
        """The object, or None."""
        status, o = self.do("GET", path)
        return o if status == 200 else None

    def apply(self, path, o):
        status, answer = self.do("PATCH", path + "?fieldManager=faults&force=true", o, "application/apply-patch+yaml")
        if status not in (200, 201):
            sys.exit("apply %s: %s" % (path, answer.get("message")))
        return answer

    def listed(self, ns):
        """Every object of a namespace: [(resource, object)]."""
        found = []
        groups = ["/api/v1"] + ["/apis/" + g["preferredVersion"]["groupVersion"] for g in self.get("/apis")["groups"]]
        for group in groups:
            for r in (self.get(group) or {}).get("resources", []):
                if r["namespaced"] and "/" not in r["name"] and "list" in r["verbs"]:
                    path = "%s/namespaces/%s/%s" % (group, ns, r["name"])
                    found += [(r["name"] + group, o) for o in (self.get(path) or {}).get("items", [])]
        return found


def condition(o, kind):
    for c in (o or {}).get("status", {}).get("conditions", []):
        if c["type"] == kind:
            return c
    return {}


def is_ready(o):
    c = condition(o, "Ready")
    return bool(o) and c.get("status") == "True" and c.get("observedGeneration", o["metadata"]["generation"]) == o["metadata"]["generation"]


class Lane:
    """An API server with our kinds, a proxy before it, and a controller that speaks to the proxy."""

    def __init__(self, report, work, name):
        self.report, self.work, self.controller = report, os.path.join(work, name), None
        os.makedirs(self.work)
        Process(self.work, "apiserver", PINTLE, "apiserver", "--data", self.work + "/data").said("KUBECONFIG=")
        self.kubeconfig = self.work + "/data/kubeconfig"
        self.api = Api(self.kubeconfig)
        crds = os.path.join(self.work, "crds.yaml")
        with open(crds, "wb") as f:
            f.write(subprocess.run([PINTLE, "crds"], check=True, capture_output=True).stdout)
        subprocess.run([PINTLE, "apply", "--kubeconfig", self.kubeconfig, "-f", crds], check=True, capture_output=True)
        self.wait("the CRDs", lambda: self.api.get(GROUP + "/repositories"))
        self.api.apply("/api/v1/namespaces/pintle-system",
                       {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pintle-system"}})

    def serve(self, proxy):
        self.proxy = proxy
        proxy.write_kubeconfig(self.work + "/proxied")

    def object(self, plural, ns, name, kind, spec):
        path = "%s%s/%s/%s" % (GROUP, "/namespaces/" + ns if ns else "", plural, name)
        meta = {"name": name, **({"namespace": ns} if ns else {})}
        return self.api.apply(path, {"apiVersion": "pintle.dev/v1alpha1", "kind": kind, "metadata": meta, "spec": spec})

    def wait(self, what, done, seconds=60):
        until = time.monotonic() + seconds
        while not done():
            if time.monotonic() > until:
                return "%s: not after %d s" % (what, seconds)
            time.sleep(0.02)
        return ""

    def start(self, env=None):
        self.controller = Process(self.work, "controller", PINTLE, "controller", "--kubeconfig", self.work + "/proxied", "--data",
                                  self.work + "/index", "--allow-local-repositories", "--leader-elect=false", env=env)


def decode_record(secret):
    data = base64.b64decode(base64.b64decode(secret["data"]["release"]))
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


# ---- states that can be compared -----------------------------------------------------------------------------------------

# What no two runs have in common. Everything else in a namespace must be equal.
DERIVED = ("events", "pods", "replicasets", "endpoints", "endpointslices", "controllerrevisions", "leases")
VOLATILE = {"uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink", "lastTransitionTime",
            "lastUpdateTime", "lastProbeTime", "startTime", "completionTime", "started_at", "completed_at",
            "first_deployed", "last_deployed", "deleted", "batch.kubernetes.io/controller-uid", "controller-uid",
            "pintle.dev/release-uid", "pintle.dev/started-at", "pintle.dev/inputs", "pintle.dev/applied-digest", "modifiedAt", "createdAt",
            "clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort", "modtime", "lastDeployed"}


def masked(v):
    if isinstance(v, dict):
        return {k: masked(x) for k, x in v.items() if k not in VOLATILE}
    if isinstance(v, list):
        return [masked(x) for x in v]
    return re.sub(r"(-test-)[a-z0-9]{5}\b", r"\1RANDOM", v) if isinstance(v, str) else v  # podinfo's hooks


def state(api, ns, status_of=("releases",)):
    """{"resource name": object} of a namespace; records are unpacked. The status of our own kinds counts, that of others is
    the simulation's."""
    found = {}
    for resource, o in api.listed(ns):
        plural, name = resource.split("/")[0], o["metadata"]["name"]
        if plural in DERIVED or name == "kube-root-ca.crt":
            continue
        if o.get("type") == "helm.sh/release.v1":
            o["data"] = decode_record(o)
        if plural not in status_of:
            o.pop("status", None)
        o.get("status", {}).get("conditions", []).sort(key=lambda c: c["type"])
        found["%s %s" % (plural, name)] = masked(o)
    return found


def difference(want, got, path=""):
    """The first difference of two trees, or ""."""
    if isinstance(want, dict) and isinstance(got, dict):
        for k in sorted(set(want) | set(got)):
            if k not in got:
                return "%s/%s is missing" % (path, k)
            if k not in want:
                return "%s/%s is too much" % (path, k)
            d = difference(want[k], got[k], "%s/%s" % (path, k))
            if d:
                return d
        return ""
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for i, (w, g) in enumerate(zip(want, got)):
            d = difference(w, g, "%s[%d]" % (path, i))
            if d:
                return d
        return ""
    return "" if want == got else "%s is %.200s, not %.200s" % (path, json.dumps(got), json.dumps(want))


# ---- the proxy -----------------------------------------------------------------------------------------------------------


class Proxy(socketserver.ThreadingTCPServer):
    """Plain HTTP in front of the API server. Numbers the writes (or what else `counts` says) that pass since arm() and kills
    a process before one of them is forwarded, or after the server has done it and before the answer is passed on."""

    allow_reuse_address, daemon_threads, request_queue_size = True, True, 256

    def __init__(self, kubeconfig, counts=lambda method, path: method in WRITES):
        super().__init__(("127.0.0.1", 0), Connection)
        self.counts = counts
        self.upstream = read_kubeconfig(kubeconfig)
        self.context, self.lock = tls(), threading.Lock()
        self.killed = threading.Event()
        self.log, self.at, self.when, self.pid = [], 0, "", 0
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def write_kubeconfig(self, path):
        with open(path, "w") as f:
            os.fchmod(f.fileno(), 0o600)
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "p",
                       "clusters": [{"name": "p", "cluster": {"server": "http://127.0.0.1:%d" % self.server_address[1]}}],
                       "users": [{"name": "p", "user": {}}],
                       "contexts": [{"name": "p", "context": {"cluster": "p", "user": "p"}}]}, f)

    def arm(self, pid=0, at=0, when=""):
        """Forgets what passed; `at` counts from 1, 0 kills nothing."""
        with self.lock:
            self.log, self.at, self.when, self.pid = [], at, when, pid
            self.killed.clear()

    def take(self, method, path):
        """(entry of the log, must be killed before)"""
        with self.lock:
            entry = {"n": len(self.log) + 1, "method": method, "path": path, "status": 0}
            self.log.append(entry)
            return entry, self.pid and entry["n"] == self.at and self.when == "before"

    def answered(self, entry, status, name):
        """True when the process was killed."""
        with self.lock:
            entry.update(status=status, name=name)
            ours = any(e is entry for e in self.log[self.at - 1:self.at])
            hit = self.pid and self.at > 0 and self.when == "after" and ours
        if hit:
            self.kill()
        return hit

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.killed.set()

    def writes(self):
        with self.lock:
            return [dict(e) for e in self.log]


class Connection(socketserver.BaseRequestHandler):
    def handle(self):
        up = None
        try:
            self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client = self.request.makefile("rb")
            raw = socket.create_connection(self.server.upstream[:2])
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            up = self.server.context.wrap_socket(raw, server_hostname="localhost")
            server = up.makefile("rb")
            while self.exchange(client, up, server):
                pass
        except (OSError, ValueError):
            pass
        finally:
            if up:
                up.close()

    @staticmethod
    def head(f):
        """(first line, {lower case name: value}, bytes) or None at the end."""
        lines, fields = [f.readline()], {}
        if not lines[0]:
            return None
        while lines[-1] not in (b"\r\n", b""):
            lines.append(f.readline())
            name, _, value = lines[-1].decode("latin-1").partition(":")
            fields[name.strip().lower()] = value.strip()
        return lines[0].decode("latin-1").split(), fields, b"".join(lines)

    def exchange(self, client, up, server):
        got = self.head(client)
        if not got:
            return False
        (method, path, _), fields, head = got
        if fields.get("expect"):
            self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            head = re.sub(rb"(?i)expect:[^\r]*\r\n", b"", head)
        body = client.read(int(fields.get("content-length") or 0))
        if len(body) < int(fields.get("content-length") or 0):
            return False
        entry = None
        if self.server.counts(method, path) and "/authorization.k8s.io/" not in path:
            entry, kill = self.server.take(method, path)
            if kill:
                self.server.kill()
                return False
        # Clients send no token over plain HTTP.
        head = head[:-2] + b"Authorization: Bearer " + self.server.upstream[2].encode() + b"\r\n\r\n"
        up.sendall(head + body)
        return self.answer(method, path, entry, body, server)

    def answer(self, method, path, entry, body, server):
        got = self.head(server)
        if not got:
            return False
        line, fields, head = got
        whole = bytearray(head)
        length = fields.get("content-length")
        if entry is None:
            self.request.sendall(head)
        if fields.get("transfer-encoding", "").lower() == "chunked":
            while True:
                size = server.readline()
                part = size + server.read(int(size, 16) + 2)
                if entry is None:
                    self.request.sendall(part)
                whole += part
                if int(size, 16) == 0:
                    break
                if entry is None:
                    whole.clear()
        elif length and int(line[1]) not in (204, 304):
            whole += server.read(int(length))
            if entry is None:
                self.request.sendall(whole[len(head):])
        if entry is not None:
            if self.server.answered(entry, int(line[1]), created_name(method, body)):
                return False
            self.request.sendall(whole)
        return fields.get("connection", "").lower() != "close"


def created_name(method, body):
    """The name in the body of a POST, whose path has none."""
    try:
        return json.loads(body)["metadata"].get("name", "") if method == "POST" else ""
    except (ValueError, KeyError, TypeError):
        return ""


def object_of(entry):
    """"jobs/name" of a logged write; "" for what is in no namespace."""
    parts = entry["path"].split("?")[0].split("/")
    if "namespaces" not in parts:
        return ""
    parts = parts[parts.index("namespaces") + 2:]
    return "/".join(parts[:2]) if len(parts) > 1 else parts[0] + "/" + entry.get("name", "") if parts else ""
