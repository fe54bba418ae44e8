#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 of `pintle dev`, API server and all, at random moments while ten releases install; every fifth time once more
while it recovers. After the restart all become Ready, in the state that an undisturbed run ends in.

    ROUNDS=N   kills (50; 8 with QUICK=1)
    SEED=N     of the moments
"""
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import faults
from faults import Api, GROUP, PINTLE, Process, ROOT

RELEASES = ["cache", "webapp", "hooked", "cache", "webapp", "hooked", "cache", "webapp", "hooked", "cache"]
READY_S = 120


class Dev:
    def __init__(self, work, name, url):
        self.work, self.url = os.path.join(work, name), url
        os.makedirs(self.work)
        self.start()

    def start(self):
        self.p = Process(self.work, "dev", PINTLE, "dev", "--data", self.work + "/data", "--delay", "50ms")
        self.p.said("KUBECONFIG=", 60)
        self.api = Api(self.work + "/data/kubeconfig")

    def kill(self):
        self.p.end(signal.SIGKILL)

    def apply(self):
        put = lambda path, kind, name, spec: self.api.apply(path + "/" + name, {
            "apiVersion": "pintle.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec})
        put(GROUP + "/repositories", "Repository", "local",
            {"name": "local", "url": self.url, "charts": [{"name": c} for c in sorted(set(RELEASES))]})
        for i, chart in enumerate(RELEASES):
            self.api.apply("/api/v1/namespaces/r%d" % i, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "r%d" % i}})
            home = "%s/namespaces/r%d" % (GROUP, i)
            put(home + "/configs", "Config", "main", {"flags": {"wait": True, "timeout": 300}})
            put(home + "/releases", "Release", "app", {"name": "app", "repo": "local", "chart": chart, "config": "main",
                                                       "inlineValues": {"sessionKey": "k", "password": "p"}})

    def waiting_for(self):
        """What is not Ready; "" when all are."""
        found = (self.api.get(GROUP + "/releases") or {}).get("items", [])
        late = ["%s: %s" % (o["metadata"]["namespace"], faults.condition(o, "Ready").get("message")) for o in found
                if not faults.is_ready(o) or faults.condition(o, "Healthy").get("status") != "True"]
        return "; ".join(late) or ("" if len(found) == len(RELEASES) else "%d Releases" % len(found))

    def wait_ready(self):
        until = time.monotonic() + READY_S
        while self.waiting_for() and time.monotonic() < until:
            time.sleep(0.05)
        return self.waiting_for()

    def states(self):
        return {"r%d" % i: faults.state(self.api, "r%d" % i) for i in range(len(RELEASES))}


def round_of(work, number, url, moments, want):
    """"" or what is wrong."""
    dev = Dev(work, "round%d" % number, url)
    try:
        start = time.monotonic()
        dev.apply()
        for moment in moments:
            time.sleep(max(0.0, start + moment - time.monotonic()))
            dev.kill()
            dev.start()
            start = time.monotonic()
        fault = dev.wait_ready()
        until = time.monotonic() + 5
        while not fault and faults.difference(want, dev.states()) and time.monotonic() < until:
            time.sleep(0.2)
        return fault or faults.difference(want, dev.states())
    finally:
        dev.kill()


def main():
    report, seed = faults.Report(), int(os.environ.get("SEED") or time.time())
    rounds = int(os.environ.get("ROUNDS") or (8 if os.environ.get("QUICK") else 50))
    print("SEED=%d" % seed, flush=True)
    chance = random.Random(seed)
    with faults.Work() as work:
        os.makedirs(work + "/repo")
        for chart, folder in {"cache": "examples/charts", "webapp": "examples/charts", "hooked": "tests/fault/charts"}.items():
            faults.pack(os.path.join(ROOT, folder), chart, work + "/repo")
        url = Process(work, "mirror", PINTLE, "mirror", "serve", work + "/repo", "--address", "127.0.0.1:0").said(r" at (http\S+)")
        dev = Dev(work, "undisturbed", url)
        start = time.monotonic()
        dev.apply()
        report.check("undisturbed", dev.wait_ready())
        took = time.monotonic() - start
        want = dev.states()
        dev.kill()
        print("ten releases are Ready after %.1f s" % took, flush=True)
        begun = time.monotonic()
        for i in range(rounds):
            moments = [chance.uniform(0, took)] + ([chance.uniform(0, took)] if i % 5 == 4 else [])
            name = "round %d, killed after %s s" % (i, ", ".join("%.3f" % m for m in moments))
            report.check(name, round_of(work, i, url, moments, want))
        print("%d rounds, %d s" % (rounds, time.monotonic() - begun), flush=True)
    report.finish()


main()
