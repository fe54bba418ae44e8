# SPDX-License-Identifier: Apache-2.0
"""Archives that are no good charts, and the index.yaml that lists them: bad_archives.py DIR. With `good` behind it every one of
them is an ordinary chart."""
import hashlib
import io
import os
import sys
import tarfile

DIR = sys.argv[1]
GOOD = sys.argv[2:] == ["good"]


def entry(tar, name, data=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    tar.addfile(info, io.BytesIO(data))


def traversal(tar, name):
    entry(tar, f"{name}/../../../tmp/outside.yaml", b"a: b\n")


def absolute(tar, name):
    entry(tar, "/etc/outside.yaml", b"a: b\n")


def symlink(tar, name):
    entry(tar, f"{name}/templates/link.yaml", type=tarfile.SYMTYPE, linkname="/etc/passwd")


def bomb(tar, name):
    for i in range(40):
        entry(tar, f"{name}/files/zeros{i}", b"\0" * (4 << 20))


def fat(tar, name):
    entry(tar, f"{name}/files/zeros", b"\0" * (6 << 20))


def nothing(tar, name):
    pass


def make(name, spoil):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        if GOOD or name != "empty":
            inside = "other" if name == "renamed" and not GOOD else name
            entry(tar, f"{name}/Chart.yaml", f"apiVersion: v2\nname: {inside}\nversion: 1.0.0\n".encode())
        entry(tar, f"{name}/values.yaml", b"text: hello\n")
        if not GOOD:
            spoil(tar, name)
    data = packed.getvalue()
    if name == "cut" and not GOOD:
        data = data[: len(data) // 2]
    if name == "garbage" and not GOOD:
        data = b"not an archive at all\n" * 10
    with open(os.path.join(DIR, f"{name}-1.0.0.tgz"), "wb") as f:
        f.write(data)
    return "0" * 64 if name == "digest" and not GOOD else hashlib.sha256(data).hexdigest()


index = "apiVersion: v1\ngenerated: 2026-01-01T00:00:00Z\nentries:\n"
for name, spoil in (("traversal", traversal), ("absolute", absolute), ("symlink", symlink), ("bomb", bomb), ("fat", fat),
                    ("digest", nothing), ("empty", nothing), ("renamed", nothing), ("cut", nothing), ("garbage", nothing)):
    digest = make(name, spoil)
    index += f"  {name}:\n  - {{ apiVersion: v2, name: {name}, version: 1.0.0, digest: \"{digest}\", urls: [{name}-1.0.0.tgz] }}\n"
with open(os.path.join(DIR, "index.yaml"), "w") as f:
    f.write(index)
