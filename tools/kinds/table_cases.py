#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a real kube-apiserver for Tables of objects with a status.

    table_cases.py KUBECONFIG OBJECTS > tests/data/apiserver/tables.jsonl

OBJECTS: JSON lines. Each object is made, its status written through /status, its Table row read, and it is deleted.
Lines: {"object", "cells", "conditions", "time": when the server was asked}.
"""
import json, ssl, subprocess, sys, time, urllib.error, urllib.request

config = json.loads(subprocess.run(["kubectl", "--kubeconfig", sys.argv[1], "config", "view", "--raw", "--minify", "-o", "json"],
                                   check=True, capture_output=True, text=True).stdout)
SERVER = config["clusters"][0]["cluster"]["server"]
TOKEN = config["users"][0]["user"]["token"]
CONTEXT = ssl.create_default_context()
CONTEXT.check_hostname = False
CONTEXT.verify_mode = ssl.CERT_NONE


def send(method, path, body=None, accept="application/json", kind="application/json"):
    r = urllib.request.Request(SERVER + path, data=None if body is None else json.dumps(body).encode(), method=method)
    r.add_header("Authorization", "Bearer " + TOKEN)
    r.add_header("Content-Type", kind)
    r.add_header("Accept", accept)
    try:
        with urllib.request.urlopen(r, context=CONTEXT) as f:
            return f.status, json.load(f)
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)


RESOURCES = {}


def resource(version, kind):
    if version not in RESOURCES:
        path = "/api/" + version if "/" not in version else "/apis/" + version
        RESOURCES[version] = {r["kind"]: (path, r["name"], r["namespaced"]) for r in send("GET", path)[1]["resources"] if "/" not in r["name"]}
    return RESOURCES[version][kind]


for line in open(sys.argv[2]):
    o = json.loads(line)
    path, plural, namespaced = resource(o["apiVersion"], o["kind"])
    url = path + ("/namespaces/default/" if namespaced else "/") + plural
    o["metadata"]["name"] = name = o["metadata"].get("name", "t") + "-table"
    code, got = send("POST", url, o)
    if code != 201:
        print(o["kind"], got.get("message"), file=sys.stderr)
        continue
    if "status" in o:
        code, got = send("PATCH", f"{url}/{name}/status", {"status": o["status"]}, kind="application/merge-patch+json")
        if code != 200:
            print(o["kind"], got.get("message"), file=sys.stderr)
    now = int(time.time())
    code, table = send("GET", f"{url}/{name}?includeObject=Object", accept="application/json;as=Table;g=meta.k8s.io;v=v1")
    row = table["rows"][0]
    row["object"]["metadata"].pop("managedFields", None)
    out = {"object": row["object"], "cells": row["cells"], "time": now}
    if row.get("conditions"):
        out["conditions"] = row["conditions"]
    print(json.dumps(out, separators=(",", ":"), sort_keys=True))
    send("DELETE", f"{url}/{name}?gracePeriodSeconds=0&propagationPolicy=Background")
    send("PATCH", f"{url}/{name}", {"metadata": {"finalizers": None}}, kind="application/merge-patch+json")
