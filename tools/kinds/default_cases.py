#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a real kube-apiserver what it makes of objects (defaults, normal form, faults).

    default_cases.py KUBECONFIG FILE...      one JSON object a line in each FILE; dry runs; prints what came of each

Lines: {"sent": object, "want": object} or {"sent": object, "error": message, "code": 422}.
"""
import json, ssl, subprocess, sys, urllib.error, urllib.request

config = json.loads(subprocess.run(["kubectl", "--kubeconfig", sys.argv[1], "config", "view", "--raw", "--minify", "-o", "json"],
                                   check=True, capture_output=True, text=True).stdout)
SERVER = config["clusters"][0]["cluster"]["server"]
TOKEN = config["users"][0]["user"]["token"]
CONTEXT = ssl.create_default_context()
CONTEXT.check_hostname = False
CONTEXT.verify_mode = ssl.CERT_NONE


def send(method, path, body=None):
    r = urllib.request.Request(SERVER + path, data=None if body is None else json.dumps(body).encode(), method=method)
    r.add_header("Authorization", "Bearer " + TOKEN)
    r.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(r, context=CONTEXT) as f:
            return f.status, json.load(f)
    except urllib.error.HTTPError as e:
        try:
            return e.code, json.load(e)
        except ValueError:
            return e.code, {}


RESOURCES = {}


def resource(version, kind):
    if version not in RESOURCES:
        path = "/api/" + version if "/" not in version else "/apis/" + version
        code, got = send("GET", path)
        RESOURCES[version] = {r["kind"]: (path, r["name"], r["namespaced"]) for r in got.get("resources", []) if "/" not in r["name"]}
    return RESOURCES[version].get(kind)


for name in sys.argv[2:]:
    for line in open(name):
        sent = json.loads(line)
        r = resource(sent["apiVersion"], sent["kind"])
        if not r:
            continue
        path, plural, namespaced = r
        sent["metadata"].pop("namespace", None)
        url = path + ("/namespaces/default/" if namespaced else "/") + plural + "?dryRun=All&fieldManager=m"
        code, got = send("POST", url, sent)
        out = {"sent": sent}
        if got["kind"] == "Status":
            out.update(error=got["message"], code=code)
        else:
            got["metadata"].pop("managedFields", None)
            out["want"] = got
        print(json.dumps(out, separators=(",", ":"), sort_keys=True))
