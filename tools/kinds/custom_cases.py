#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a real kube-apiserver about CRDs and custom objects.

    custom_cases.py KUBECONFIG CRD OBJECTS CRDS > tests/data/apiserver/custom.jsonl

CRD: the definition that OBJECTS (JSON lines) are instances of. CRDS: definitions (JSON lines) that are only tried. All
but CRD itself are dry runs with fieldValidation=Strict.
"""
import json, ssl, subprocess, sys, time, urllib.error, urllib.request

config = json.loads(subprocess.run(["kubectl", "--kubeconfig", sys.argv[1], "config", "view", "--raw", "--minify", "-o", "json"],
                                   check=True, capture_output=True, text=True).stdout)
SERVER = config["clusters"][0]["cluster"]["server"]
TOKEN = config["users"][0]["user"]["token"]
CONTEXT = ssl.create_default_context()
CONTEXT.check_hostname = False
CONTEXT.verify_mode = ssl.CERT_NONE
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def send(method, path, body=None):
    r = urllib.request.Request(SERVER + path, data=None if body is None else json.dumps(body).encode(), method=method)
    r.add_header("Authorization", "Bearer " + TOKEN)
    r.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(r, context=CONTEXT) as f:
            return f.status, json.load(f)
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)


def show(line, code, got):
    line["code"] = code
    if got["kind"] == "Status":
        line["error"] = got["message"]
    else:
        got["metadata"].pop("managedFields", None)
        line["want"] = got
    print(json.dumps(line, separators=(",", ":"), sort_keys=True))


crd = json.load(open(sys.argv[2]))
send("DELETE", CRDS + "/" + crd["metadata"]["name"])
time.sleep(2)
send("POST", CRDS, crd)
time.sleep(3)
spec = crd["spec"]
print(json.dumps({"schema": spec["versions"][0]["schema"]["openAPIV3Schema"]}, separators=(",", ":")))
url = f"/apis/{spec['group']}/v1/namespaces/default/{spec['names']['plural']}?dryRun=All&fieldValidation=Strict"
for text in open(sys.argv[3]):
    body = {"apiVersion": spec["group"] + "/v1", "kind": spec["names"]["kind"], "metadata": {"name": "x"}, **json.loads(text)}
    show({"sent": body}, *send("POST", url, body))
for text in open(sys.argv[4]):
    body = json.loads(text)
    code, got = send("POST", CRDS + "?dryRun=All", body)
    if got["kind"] != "Status":
        got = {"kind": got["kind"], "metadata": {}}
    show({"crd": body}, code, got)
