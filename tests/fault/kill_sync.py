#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 of `pintle controller` while it syncs a repository of 20 charts, and again while the repository has a new version of
each: before and after each write of the API, at every tenth read, at each write to the index database (half of it done). After the
restart everything comes to the state of an undisturbed run: the same Charts, ConfigMaps and status, every archive's bytes,
nothing left over in the cluster or on the disk; and nothing at all when the Repository is deleted.

    QUICK=1      a sample (for CI); else all of them
    SEED=N       of the sample
    POINTS=a,b   only these: before, after, read, disk
    READS=N      every Nth read
"""
import hashlib
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import faults
from faults import GROUP, Process, Proxy, ROOT, WRITES

CHARTS = ["c%02d" % i for i in range(20)]
BIG, CRDS, DEPENDS = "c03", "c05", "c07"  # more than one part; with a CRD; with a dependency that is another of them:
DEPENDENCY = "c08"  # asked for by the repository and by a chart: its generation tells who of them came first
LANES = 2
QUICK_POINTS = 6
DISK_POINTS = 10  # a sample is of so many
CONFIGMAPS = "/api/v1/namespaces/pintle-system/configmaps"
OPERATIONS = {"sync": "1.0.0", "resync": "1.1.0"}


# ---- the repository -------------------------------------------------------------------------------------------------------


def chart_files(name, version):
    meta = "apiVersion: v2\nname: %s\nversion: %s\n" % (name, version)
    if name == DEPENDS:
        meta += "dependencies:\n- { name: %s, version: \">=1.0.0\", repository: \"@local\" }\n" % DEPENDENCY
    files = {"Chart.yaml": meta, "values.yaml": "text: hello\n",
             "templates/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: m }\ndata: { text: \"{{ .Values.text }}\" }\n"}
    if name == BIG:
        files["files/big"] = random.Random(version).randbytes(700000).hex()
    if name == CRDS:
        files["crds/a.yaml"] = "kind: CustomResourceDefinition\n"
    return files


def pack(folder, name, version):
    path = os.path.join(folder, "%s-%s.tgz" % (name, version))
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        for file, text in chart_files(name, version).items():
            info = tarfile.TarInfo("%s/%s" % (name, file))
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


class Repository:
    """Archives of both versions, and an index that has the first or both."""

    def __init__(self, folder):
        self.folder, self.digests = folder, {}
        os.makedirs(folder)
        server = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests/lib/chart_server.py"), folder],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.server, self.url = server, "http://127.0.0.1:%d" % int(server.stdout.readline())
        for version in OPERATIONS.values():
            for name in CHARTS:
                self.digests[name, version] = pack(folder, name, version)

    def index(self, operation):
        """The text."""
        newest_first = ["1.1.0", "1.0.0"] if operation == "resync" else ["1.0.0"]
        entries = {name: [{"apiVersion": "v2", "name": name, "version": v, "digest": self.digests[name, v],
                           "urls": ["%s/%s-%s.tgz" % (self.url, name, v)]} for v in newest_first] for name in CHARTS}
        return json.dumps({"apiVersion": "v1", "entries": entries})

    def publish(self, folder, operation):
        """The index, below a folder of its own; archives are shared."""
        home = os.path.join(self.folder, folder)
        os.makedirs(home, exist_ok=True)
        path = os.path.join(home, "index.yaml")
        with open(path + ".new", "w") as f:
            f.write(self.index(operation))
        stamp = 1700000000 + 100 * list(OPERATIONS).index(operation)
        os.utime(path + ".new", (stamp, stamp))
        os.replace(path + ".new", path)
        with open(path, "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()


# ---- one lane -----------------------------------------------------------------------------------------------------------


def is_write(method, path):
    return method in WRITES


def without_generation(v):
    if isinstance(v, list):
        return [without_generation(x) for x in v]
    return {k: without_generation(x) for k, x in v.items() if not k.lower().endswith("generation")} if isinstance(v, dict) else v


def is_read(method, path):
    return method == "GET" and "watch=" not in path


POINTS = {"before": (is_write, "before"), "after": (is_write, "after"), "read": (is_read, "before"), "disk": (is_write, "")}


class Lane(faults.Lane):
    def __init__(self, report, work, number, repository, preload):
        super().__init__(report, work, "lane%d" % number)
        self.repository, self.folder, self.preload = repository, "lane%d" % number, preload
        self.n, self.kills = 0, 0
        self.serve(Proxy(self.kubeconfig))

    def state(self):
        found = {}
        for path in (CONFIGMAPS, GROUP + "/charts", GROUP + "/repositories"):
            for o in self.api.get(path)["items"]:
                if o["metadata"]["name"] != "kube-root-ca.crt":
                    found["%s %s" % (path, o["metadata"]["name"])] = faults.masked(o)
        index = os.path.join(self.work, "index")
        for folder, _, files in os.walk(index):
            found.update(("file " + os.path.relpath(os.path.join(folder, f), index), True) for f in files)
        for o in found.values():
            if o is not True:
                o.get("status", {}).get("conditions", []).sort(key=lambda c: c["type"])
                o.get("status", {}).pop("lastSyncTime", None)
        dependency = "%s/charts %s-local" % (GROUP, DEPENDENCY)
        if dependency in found:
            found[dependency] = without_generation(found[dependency])
        return found

    def is_done(self, operation):
        repository = self.api.get(GROUP + "/repositories/local")
        if not faults.is_ready(repository) or repository["status"].get("indexDigest") != self.digest:
            return False
        charts = self.api.get(GROUP + "/charts")["items"]
        return len(charts) == len(CHARTS) and all(
            faults.is_ready(c) and c["status"]["resolved"][0]["version"] == OPERATIONS[operation] for c in charts)

    def said(self):
        return "; ".join("%s: %s" % (o["metadata"]["name"], faults.condition(o, "Ready").get("message"))
                         for path in ("/repositories", "/charts") for o in self.api.get(GROUP + path)["items"]
                         if not faults.is_ready(o))[:500]

    def begin(self, operation):
        self.digest = self.repository.publish(self.folder, operation)
        if operation == "sync":
            self.object("repositories", None, "local", "Repository", {
                "name": "local", "url": "%s/%s" % (self.repository.url, self.folder),
                "charts": [{"name": c, "versions": ["*"]} for c in CHARTS]})

    def run(self, operation, point, at):
        """"" or what is wrong; whether it was killed."""
        counts, when = POINTS.get(point, (lambda *x: is_write(*x) or is_read(*x), ""))
        disk = {"LD_PRELOAD": self.preload, "KILL_BELOW": self.work + "/index", "KILL_AT": str(at)} if point == "disk" else None
        self.begin(operation)
        self.proxy.counts = counts
        self.proxy.arm(0, at, when)
        self.start(disk)
        self.proxy.pid = self.controller.pid
        ended = lambda: self.controller.p.poll() is not None
        late = self.wait(operation, lambda: ended() or self.is_done(operation))
        killed, log = ended(), self.proxy.writes()
        self.hit = "%(method)s %(path)s" % log[at - 1] if point != "disk" and 0 < at <= len(log) else ""
        if killed:
            self.proxy.arm()
            self.start()
            late = self.wait(operation, lambda: self.is_done(operation))
        return ("%s; %s" % (late, self.said()) if late else ""), killed

    def settled(self, want, seconds=5):
        """The first difference, once there is none or it stays."""
        until = time.monotonic() + seconds
        fault = faults.difference(want, self.state())
        while fault and time.monotonic() < until:
            time.sleep(0.1)
            fault = faults.difference(want, self.state())
        return fault

    def stop(self):
        self.controller.end(faults.signal.SIGKILL)

    def end(self):
        """The Repository goes, and with it everything. What is left."""
        self.api.do("DELETE", GROUP + "/repositories/local")
        fault = self.settled({}, 20)
        self.stop()
        return fault

    def reference(self):
        self.want, self.totals = {}, dict.fromkeys(POINTS, 0)
        for operation, version in OPERATIONS.items():
            fault, _ = self.run(operation, "all", 0)
            time.sleep(0.5)
            self.want[operation] = self.state()
            self.report.check("undisturbed %s" % operation, fault or self.wrong_content(version))
            calls = [(c["method"], c["path"]) for c in self.proxy.writes()]
            for point, (counts, _) in POINTS.items():
                self.totals[point] = max(self.totals[point], sum(counts(*c) for c in calls) if point != "disk" else DISK_POINTS)
            print("%s: %d writes, %d reads" % (operation, sum(is_write(*c) for c in calls), sum(is_read(*c) for c in calls)), flush=True)
            self.stop()
        self.start()
        self.report.check("undisturbed: nothing is left", self.end())

    def wrong_content(self, version):
        """Of the ConfigMaps, against the archives."""
        for name in CHARTS:
            digests = {o["metadata"]["annotations"]["pintle.dev/digest"] for o in self.api.get(CONFIGMAPS)["items"]
                       if o["metadata"].get("labels", {}).get("pintle.dev/type") == "tmpl"
                       and o["metadata"]["annotations"]["pintle.dev/chart"] == name}
            if digests != {self.repository.digests[name, version]}:
                return "%s has the content of %s" % (name, digests)
        return ""

    def lifetime(self, point, at):
        """A sync and a resync, each with a kill at this point: were there so many?"""
        self.n, any_killed = self.n + 1, False
        for operation in OPERATIONS:
            fault, killed = self.run(operation, point, at)
            fault = fault or self.settled(self.want[operation])
            if killed or fault:
                any_killed = True
                self.kills += killed
                self.report.check("%s killed at %s %d %s" % (operation, point, at, self.hit), fault)
            self.stop()
        self.start()
        fault = self.end()
        self.report.check("nothing is left after %s %d" % (point, at), fault)
        return any_killed


# ---- all of them -------------------------------------------------------------------------------------------------------------


class Points:
    """What is still to be done, for all lanes: of each point 1, 2, … until there are no more."""

    def __init__(self, seed, wanted):
        self.lock, self.chance, self.wanted, self.lists = threading.Lock(), random.Random(seed), wanted, None

    def begin(self, totals):
        """Once an undisturbed run has told how many there are."""
        if os.environ.get("QUICK"):
            sample = lambda n: sorted(self.chance.sample(range(1, n + 1), min(QUICK_POINTS, n)))
            self.lists = {p: iter(sample(totals[p])) for p in self.wanted}
        else:
            step = {"read": int(os.environ.get("READS") or 10)}
            self.lists = {p: iter(range(1, 100000, step.get(p, 1))) for p in self.wanted}

    def take(self):
        with self.lock:
            for point in list(self.lists):
                at = next(self.lists[point], 0)
                if at:
                    return point, at
                del self.lists[point]
        return None

    def close(self, point):
        with self.lock:
            self.lists.pop(point, None)


def run_lane(report, lane, points):
    try:
        lane.reference()
        while True:
            with points.lock:
                if points.lists is None:
                    points.begin(lane.totals)
            job = points.take()
            if not job:
                break
            if not lane.lifetime(*job):
                points.close(job[0])
    except BaseException as e:
        report.check("lane %s goes to its end" % lane.work, "%s: %s" % (type(e).__name__, e))


def main():
    report, seed = faults.Report(), int(os.environ.get("SEED") or time.time())
    print("SEED=%d" % seed, flush=True)
    start = time.monotonic()
    with faults.Work() as work:
        preload = os.path.join(work, "kill_at_write.so")
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", preload,
                        os.path.join(ROOT, "tests/fault/kill_at_write.c")], check=True)
        repository = Repository(os.path.join(work, "repo"))
        points = Points(seed, os.environ.get("POINTS", ",".join(POINTS)).split(","))
        lanes = [Lane(report, work, i, repository, preload) for i in range(LANES)]
        threads = [threading.Thread(target=run_lane, args=(report, lane, points), daemon=True) for lane in lanes]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        repository.server.kill()
        print("%d kills in %d lifetimes, %d s" % (sum(x.kills for x in lanes), sum(x.n for x in lanes), time.monotonic() - start), flush=True)
    report.finish()


main()
