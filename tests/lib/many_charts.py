# SPDX-License-Identifier: Apache-2.0
"""A repository of many charts: many_charts.py DIR CHARTS BYTES writes one archive for each and an index.yaml of about so many
bytes; with `more` behind it only the index, in which the last chart has one version more."""
import gzip
import hashlib
import io
import os
import sys
import tarfile

DIR, CHARTS, BYTES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
MORE = sys.argv[4:] == ["more"]
VERSIONS = 20


def archive(name, version):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for file, text in (("Chart.yaml", f"apiVersion: v2\nname: {name}\nversion: {version}\n"), ("values.yaml", "text: hello\n")):
            info = tarfile.TarInfo(f"{name}/{file}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return gzip.compress(packed.getvalue(), 1, mtime=0)


def entry(name, version, description):
    data = archive(name, version)
    path = os.path.join(DIR, f"{name}-{version}.tgz")
    if version.endswith(f".{VERSIONS - 1}.0") or version.startswith("2"):
        with open(path, "wb") as f:
            f.write(data)
    return (f"  - apiVersion: v2\n    created: \"2026-01-01T00:00:00Z\"\n    description: {description}\n"
            f"    digest: {hashlib.sha256(data).hexdigest()}\n    name: {name}\n    urls:\n    - {name}-{version}.tgz\n    version: {version}\n")


def main():
    description = "word " * (max(BYTES // CHARTS // VERSIONS - 250, 10) // 5)
    with open(os.path.join(DIR, "index.yaml.new"), "w") as out:
        out.write("apiVersion: v1\nentries:\n")
        for i in range(CHARTS):
            name = f"chart-{i:04d}"
            out.write(f"  {name}:\n")
            if MORE and i == CHARTS - 1:
                out.write(entry(name, "2.0.0", description))
            for v in reversed(range(VERSIONS)):
                out.write(entry(name, f"1.{v}.0", description))
    os.rename(os.path.join(DIR, "index.yaml.new"), os.path.join(DIR, "index.yaml"))


main()
