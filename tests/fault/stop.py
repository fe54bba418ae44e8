#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGTERM to `pintle dev` and `pintle controller` at moments while releases are installed, and while a repository does not
answer: they end within 2 s with exit status 0, and the next process finishes what they began. SEED=N repeats the
moments."""
import os
import random
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import faults
from faults import Api, GROUP, PINTLE, Process, ROOT

STOP_S = 2.0
RELEASES = 6


def apply(api, url):
    put = lambda path, kind, name, spec: api.apply(path + "/" + name, {
        "apiVersion": "pintle.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec})
    put(GROUP + "/repositories", "Repository", "local", {"name": "local", "url": url, "charts": [{"name": "hooked"}]})
    for i in range(RELEASES):
        home = "%s/namespaces/r%d" % (GROUP, i)
        api.apply("/api/v1/namespaces/r%d" % i, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "r%d" % i}})
        put(home + "/configs", "Config", "main", {"flags": {"wait": True, "timeout": 300}})
        put(home + "/releases", "Release", "app", {"name": "app", "repo": "local", "chart": "hooked", "config": "main"})


def wait_ready(api):
    until = time.monotonic() + 90
    late = "nothing"
    while late and time.monotonic() < until:
        found = api.get(GROUP + "/releases")["items"]
        late = [faults.condition(o, "Ready").get("message") for o in found if not faults.is_ready(o)]
        time.sleep(0.05)
    return str(late) if late else ""


def stop(report, name, process):
    start = time.monotonic()
    status = process.end()
    took = time.monotonic() - start
    report.check("%s ends with status 0" % name, "" if status == 0 else "status %d" % status)
    report.check("%s ends within %.0f s" % (name, STOP_S), "" if took <= STOP_S else "%.2f s" % took)
    return took


def stop_dev(report, work, url, moment):
    dev = lambda: Process(work, "dev", PINTLE, "dev", "--data", work + "/data", "--delay", "50ms")
    os.makedirs(work)
    p = dev()
    p.said("KUBECONFIG=", 60)
    apply(Api(work + "/data/kubeconfig"), url)
    time.sleep(moment)
    took = stop(report, "dev after %.3f s" % moment, p)
    p = dev()
    p.said("KUBECONFIG=", 60)
    report.check("dev after %.3f s: the next one finishes" % moment, wait_ready(Api(work + "/data/kubeconfig")))
    p.end(faults.signal.SIGKILL)
    return took


def stop_controller(report, work, url, moment, finishes=True):
    os.makedirs(work)
    server = Process(work, "apiserver", PINTLE, "apiserver", "--data", work + "/data")
    server.said("KUBECONFIG=")
    config = work + "/data/kubeconfig"
    with open(work + "/crds.yaml", "wb") as f:
        f.write(faults.subprocess.run([PINTLE, "crds"], check=True, capture_output=True).stdout)
    faults.subprocess.run([PINTLE, "apply", "--kubeconfig", config, "-f", work + "/crds.yaml"], check=True, capture_output=True)
    api = Api(config)
    api.apply("/api/v1/namespaces/pintle-system", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pintle-system"}})
    simulate = Process(work, "simulate", PINTLE, "simulate", "--kubeconfig", config, "--delay", "50ms", "--controllers", "on")
    controller = lambda: Process(work, "controller", PINTLE, "controller", "--kubeconfig", config, "--data", work + "/index",
                                 "--allow-local-repositories")
    p = controller()
    apply(api, url)
    time.sleep(moment)
    took = stop(report, "controller after %.3f s" % moment, p)
    p = controller()
    if finishes:
        report.check("controller after %.3f s: the next one finishes" % moment, wait_ready(api))
    for x in (p, simulate, server):
        x.end(faults.signal.SIGKILL)
    return took


def main():
    report, seed = faults.Report(), int(os.environ.get("SEED") or time.time())
    print("SEED=%d" % seed, flush=True)
    chance, took = random.Random(seed), []
    with faults.Work() as work:
        os.makedirs(work + "/repo")
        faults.pack(os.path.join(ROOT, "tests/fault/charts"), "hooked", work + "/repo")
        url = Process(work, "mirror", PINTLE, "mirror", "serve", work + "/repo", "--address", "127.0.0.1:0").said(r" at (http\S+)")
        for i in range(5 if os.environ.get("QUICK") else 15):
            took.append(stop_dev(report, "%s/dev%d" % (work, i), url, chance.uniform(0, 3)))
            took.append(stop_controller(report, "%s/controller%d" % (work, i), url, chance.uniform(0, 3)))
        silent = socket.create_server(("127.0.0.1", 0))  # takes requests and never answers
        took.append(stop_controller(report, work + "/silent", "http://127.0.0.1:%d" % silent.getsockname()[1], 1.5, False))
        print("%d stops, the longest took %.2f s" % (len(took), max(took)), flush=True)
    report.finish()


main()
