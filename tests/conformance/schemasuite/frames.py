# SPDX-License-Identifier: Apache-2.0
"""JSON-Schema-Test-Suite as frames for the driver, and the count of its answers.

frames.py make SUITE DRAFT > frames      SUITE/tests/DRAFT without optional/
frames.py count SUITE DRAFT ANSWERS      prints failures and "DRAFT PASSED FAILED NEEDING-OTHER-DOCUMENTS"
"""
import json
import pathlib
import sys

URLS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}


def cases(suite, draft):
    for path in sorted(pathlib.Path(suite, "tests", draft).glob("*.json")):
        for group in json.loads(path.read_text()):
            schema = group["schema"]
            if isinstance(schema, dict) and "$schema" not in schema:
                schema = {"$schema": URLS[draft], **schema}
            for test in group["tests"]:
                name = f"{path.name}: {group['description']}: {test['description']}"
                yield name, schema, test["data"], test["valid"]


def make(suite, draft):
    out = sys.stdout.buffer
    for _, schema, data, _ in cases(suite, draft):
        text = json.dumps([json.dumps(schema), data]).encode()
        out.write(b"v %d\n%s\n" % (len(text), text))


def answers(path):
    with open(path, "rb") as f:
        while head := f.readline():
            text = f.read(int(head) + 1)
            yield text[:-1].decode()


def count(suite, draft, path):
    passed = failed = remote = 0
    for (name, schema, _, valid), got in zip(cases(suite, draft), answers(path)):
        if "other documents are not loaded" in got:
            remote += 1
        elif not got.startswith("error:") and (got == "") == valid:
            passed += 1
        else:
            failed += 1
            print(f"FAIL {draft}: {name}: want {'valid' if valid else 'invalid'}, got {got.strip()[:200] or 'valid'}")
    print(f"{draft} {passed} {failed} {remote}")
    return failed > 0


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], sys.argv[3])
    else:
        sys.exit(count(sys.argv[2], sys.argv[3], sys.argv[4]))
