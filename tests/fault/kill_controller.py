#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 of `pintle controller` before and after each API write of install, upgrade and uninstall of three charts, the
API server living on. After the restart everything comes to the state that an undisturbed run ends in: the same objects,
records and status, nothing created twice, nothing deleted that an undisturbed run leaves alone, nothing secret said.

    QUICK=1      a sample of the writes (for CI); else all of them
    SEED=N       of the sample
    CHARTS=a,b   only these
    CORPUS=DIR   with real charts: podinfo and ingress-nginx too
"""
import collections
import glob
import os
import random
import shutil
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import faults
from faults import Api, GROUP, PINTLE, Process, Proxy, ROOT

HOOKED = {"install": {"text": "one"}, "upgrade": {"text": "two", "before": False, "after": True}}
CHARTS = {  # name: (folder, values of each operation)
    "cache": ("examples/charts", {"install": {}, "upgrade": {"maxMemory": "64mb"}}),
    "webapp": ("examples/charts", {"install": {}, "upgrade": {"replicas": 3, "pages": {"about": {"title": "About"}}}}),
    "hooked": ("tests/fault/charts", HOOKED),
}
CORPUS_CHARTS = {
    "podinfo": ("podinfo_podinfo-6.14.1.tgz", {"install": {}, "upgrade": {"replicaCount": 2}}),
    "ingress-nginx": ("ingress-nginx_ingress-nginx-4.15.1.tgz",
                      {"install": {}, "upgrade": {"controller": {"replicaCount": 2}}}),
}
SECRET_VALUES = "password: %s\nsessionKey: %s\n" % (faults.CANARY, faults.CANARY)
OPERATIONS = ("install", "upgrade", "uninstall")
NS = "app"
QUIET_S = 0.4  # so long after the end, a write that was to be the last may still come
QUICK_CELLS = 5


class Lane(faults.Lane):
    """One chart: its own API server, simulation, proxy and controller."""

    def __init__(self, report, work, chart, values, url, seed):
        super().__init__(report, work, chart)
        self.chart, self.values = chart, values
        self.random = random.Random("%d %s" % (seed, chart))
        self.n, self.cells, self.kills, self.writes = 0, 0, 0, {}
        self.serve(Proxy(self.kubeconfig))
        Process(self.work, "simulate", PINTLE, "simulate", "--kubeconfig", self.kubeconfig, "--delay", "50ms", "--controllers", "on")
        self.object("repositories", None, "local", "Repository", {"name": "local", "url": url, "charts": [{"name": self.chart}]})

    # ---- operations ----------------------------------------------------------------------------------------------------

    def release(self, operation):
        spec = {"name": "app", "repo": "local", "chart": self.chart, "config": "main",
                "valuesFrom": [{"kind": "Secret", "name": "more"}], "inlineValues": self.values[operation]}
        self.object("releases", NS, "app", "Release", spec)

    def clear(self):
        """What an uninstall leaves: CRDs, kept objects, hooks."""
        for crd in self.api.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")["items"]:
            if not crd["metadata"]["name"].endswith(".pintle.dev") or crd["spec"]["group"] != "pintle.dev":
                self.drop("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + crd["metadata"]["name"])
        self.drop("/api/v1/namespaces/" + NS)

    def install(self):
        self.api.apply("/api/v1/namespaces/" + NS, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NS}})
        self.api.apply("/api/v1/namespaces/%s/secrets/more" % NS,
                       {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "more"}, "stringData": {"values.yaml": SECRET_VALUES}})
        self.object("configs", NS, "main", "Config", {"flags": {"wait": True, "timeout": 120}})
        self.release("install")

    def drop(self, path):
        self.api.do("DELETE", path)
        late = self.wait(path, lambda: not self.api.get(path), 20)
        if late:
            raise RuntimeError(late)

    def upgrade(self):
        self.release("upgrade")

    def uninstall(self):
        self.api.do("DELETE", "%s/namespaces/%s/releases/app" % (GROUP, NS))

    def is_done(self, operation):
        o = self.api.get("%s/namespaces/%s/releases/app" % (GROUP, NS))
        if operation == "uninstall":
            return not o
        return faults.is_ready(o) and faults.condition(o, "Healthy").get("status") == "True"

    def said_of(self):
        o = self.api.get("%s/namespaces/%s/releases/app" % (GROUP, NS))
        return faults.condition(o, "Ready").get("message", "no Release")

    # ---- one operation with one kill -------------------------------------------------------------------------------------

    def run(self, operation, at, when):
        """"" or what is wrong; whether it was killed."""
        done = lambda: self.is_done(operation)
        self.proxy.arm(self.controller.pid, at, when)
        getattr(self, operation)()
        late = self.wait(operation, lambda: self.proxy.killed.is_set() or done())
        if not late and at:
            self.proxy.killed.wait(QUIET_S)
        killed = self.proxy.killed.is_set()
        if killed:
            self.controller.p.wait()
            self.proxy.pid = 0
            self.start()
            late = self.wait(operation, done)
        else:
            time.sleep(QUIET_S if not at else 0)
        return ("%s; %s" % (late, self.said_of()) if late else ""), killed

    def tally(self):
        """How often each object of the namespace was created, and which were deleted."""
        created, deleted = collections.Counter(), set()
        for e in self.proxy.writes():
            what = faults.object_of(e)
            if "/namespaces/%s/" % NS not in e["path"] or what.startswith("events/"):
                continue
            if e["status"] == 201:
                created[what] += 1
            if e["method"] == "DELETE" and e["status"] in (200, 202):
                deleted.add(what)
        return created, deleted

    def settled_state(self, want=None):
        """The state, once it is the wanted one or does not change any more."""
        until = time.monotonic() + 5
        got = faults.state(self.api, NS)
        while want is not None and faults.difference(want, got) and time.monotonic() < until:
            time.sleep(0.2)
            got = faults.state(self.api, NS)
        return got

    def reference(self):
        self.want = {}
        self.start()
        for operation in OPERATIONS:
            fault, _ = self.run(operation, 0, "")
            self.report.check("%s: undisturbed %s" % (self.chart, operation), fault)
            time.sleep(QUIET_S)
            self.writes[operation] = len(self.proxy.writes())
            self.want[operation] = (self.settled_state(), *self.tally())

    def compare(self, operation):
        state, created, deleted = self.want[operation]
        got_created, got_deleted = self.tally()
        fault = faults.difference(state, self.settled_state(state))
        if not fault and got_created != created:
            fault = "created %s" % dict((got_created - created) or {("not", k): v for k, v in (created - got_created).items()})
        if not fault and got_deleted - deleted:
            fault = "deleted %s" % sorted(got_deleted - deleted)
        return fault

    def lifetime(self, at, when):
        """Install, upgrade and uninstall, each with a kill at this write: were there so many?"""
        self.clear()
        self.n, any_killed = self.n + 1, False
        for operation in OPERATIONS:
            fault, killed = self.run(operation, at, when)
            if killed or fault:
                any_killed = True
                self.kills += killed
                name = "%s: %s killed %s write %d" % (self.chart, operation, when, at)
                if 0 < at <= len(self.proxy.writes()):
                    name += " (%s %s)" % (self.proxy.writes()[at - 1]["method"], self.proxy.writes()[at - 1]["path"])
                self.report.check(name, fault or self.compare(operation))
            if fault:
                break
        return any_killed

    def all_lifetimes(self):
        most = max(self.writes.values())
        if os.environ.get("QUICK"):
            for when in ("before", "after"):
                for at in sorted(self.random.sample(range(1, most + 1), min(QUICK_CELLS, most))):
                    self.lifetime(at, when)
            return
        for when in ("before", "after"):
            for at in range(1, 2 * most):
                if not self.lifetime(at, when):
                    break

    def secrets_said(self):
        texts = {"the log": open(self.controller.log).read()}
        texts["events"] = str(self.api.get("/api/v1/events"))
        texts["statuses"] = str([o.get("status") for o in self.api.get(GROUP + "/releases")["items"]])
        return ", ".join(k for k, text in texts.items() if faults.CANARY in text)

    def main(self):
        start = time.monotonic()
        self.start()
        fault = self.wait("the chart", lambda: faults.is_ready((self.api.get(GROUP + "/charts") or {"items": [None]})["items"][:1][0]
                                                               if (self.api.get(GROUP + "/charts") or {}).get("items") else None))
        self.controller.end()
        self.report.check("%s: the chart is ready" % self.chart, fault)
        if fault:
            return
        self.reference()
        self.all_lifetimes()
        self.report.check("%s: nothing secret is said" % self.chart, self.secrets_said())
        print("%s: %s; %d kills in %d lifetimes, %d s" % (
            self.chart, ", ".join("%s has %d writes" % x for x in self.writes.items()), self.kills, self.n,
            time.monotonic() - start), flush=True)


def charts(repo):
    wanted = [c for c in os.environ.get("CHARTS", "").split(",") if c]
    found = {}
    for name, (folder, values) in CHARTS.items():
        faults.pack(os.path.join(ROOT, folder), name, repo)
        found[name] = values
    corpus = os.environ.get("CORPUS", os.path.join(ROOT, "../shared/corpus"))
    for name, (archive, values) in CORPUS_CHARTS.items():
        path = os.path.join(corpus, "charts", archive)
        if not os.path.exists(path):
            print("SKIP %s: no %s" % (name, path))
            continue
        shutil.copy(path, os.path.join(repo, archive.split("_", 1)[1]))
        found[name] = values
    return {k: v for k, v in found.items() if not wanted or k in wanted}


def run_lane(report, *args):
    try:
        Lane(report, *args).main()
    except BaseException as e:
        report.check("%s: the run goes to its end" % args[1], "%s: %s" % (type(e).__name__, e))


def main():
    report, seed = faults.Report(), int(os.environ.get("SEED") or time.time())
    print("SEED=%d" % seed, flush=True)
    with faults.Work() as work:
        os.makedirs(work + "/repo")
        chosen = charts(work + "/repo")
        mirror = Process(work, "mirror", PINTLE, "mirror", "serve", work + "/repo", "--address", "127.0.0.1:0")
        url = mirror.said(r" at (http\S+)")
        lanes = [threading.Thread(target=run_lane, args=(report, work, c, v, url, seed), daemon=True) for c, v in chosen.items()]
        for t in lanes:
            t.start()
        for t in lanes:
            t.join()
    report.finish()


main()
