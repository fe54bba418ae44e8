#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What commands said, as text that is the same in every run: the work of tests/lib/table.sh.

    table_text.py mask WORK <text         the text with what differs from run to run replaced
    table_text.py blocks WORK SAID        SAID/cases ("STATUS LINE"), SAID/N.out and SAID/N.err as blocks
"""
import os
import re
import sys

MASKS = [
    (rb"(?m)^time=[^ ]* ", b""),
    (rb"/tmp/(helm|pintle)-lint[-0-9A-Za-z_.]+", b"/tmp/LINT"),
    (rb"(127\.0\.0\.1|localhost):[0-9]+", rb"\1:PORT"),
    (rb"tmpcharts-[0-9]+", b"tmpcharts-N"),
    (rb"(?m)^generated: .*", b"generated: TIME"),
    (rb"helm-manager-[0-9a-f]{64}", b"helm-manager-HASH"),
    (rb"-[0-9]{10}(-[0-9]+)?\b", b"-NOW"),
    (rb"lookup ([^ ]+) on [^ ]+:53:", rb"lookup \1 on DNS:53:"),
    (rb"\bpintle\b", b"helm"),
]


def mask(text, work):
    home = os.path.join(os.path.dirname(work), "home")
    for pattern, to in MASKS[:3]:
        text = re.sub(pattern, to, text)
    text = text.replace(work.encode(), b"WORK").replace(home.encode(), b"HOME")
    for pattern, to in MASKS[3:]:
        text = re.sub(pattern, to, text)
    return text


def split(text):
    """Lines as sed sees them: at newlines alone."""
    return [line + b"\n" for line in text.split(b"\n")[:-1]] + [last for last in text.split(b"\n")[-1:] if last]


def blocks(work, said):
    out = sys.stdout.buffer
    with open(os.path.join(said, "cases"), "rb") as f:
        cases = f.read().split(b"\n")[:-1]
    for number, case in enumerate(cases, 1):
        status, line = case.split(b" ", 1)
        out.write(b"$ " + line + b"\nexit " + status + b"\n")
        for prefix, kind in ((b">", "out"), (b"!", "err")):
            with open(os.path.join(said, "%d.%s" % (number, kind)), "rb") as f:
                text = mask(f.read(), work)
            out.write(b"".join(prefix + b" " + part for part in split(text)))
            if text and not text.endswith(b"\n"):
                out.write(b"\n" + prefix + b" (no newline)\n")


if sys.argv[1] == "mask":
    sys.stdout.buffer.write(mask(sys.stdin.buffer.read(), sys.argv[2]))
else:
    blocks(sys.argv[2], sys.argv[3])
