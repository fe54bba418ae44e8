# SPDX-License-Identifier: Apache-2.0
"""Archives of a chart "web" with one odd thing each, for tests/e2e/bad_files.sh: odd_archives.py DIR"""
import gzip
import io
import os
import sys
import tarfile
import zlib

DIR = sys.argv[1]
MIB = 1 << 20
META = b"apiVersion: v2\nname: web\nversion: 1.0.0\n"


def header(name, size=0, kind=b"0", prefix=b"", link=b"", size_field=None, magic=b"ustar\x0000"):
    h = bytearray(512)
    h[0:len(name)] = name
    h[100:124] = b"0000644\x000000000\x000000000\x00"
    h[124:136] = size_field or b"%011o\x00" % size
    h[136:148] = b"00000000001\x00"
    h[148:156] = b" " * 8
    h[156:157] = kind
    h[157:157 + len(link)] = link
    h[257:265] = magic
    h[345:345 + len(prefix)] = prefix
    h[148:156] = b"%06o\x00 " % sum(h)
    return bytes(h)


def pad(data):
    return data + b"\0" * (-len(data) % 512)


def entry(name, data=b"", **fields):
    return header(name, len(data), **fields) + pad(data)


def pax(name, data=b"", **fields):
    text = b"".join(b"%d %s=%s\n" % (n, k.encode(), v) for k, v in fields.items()
                    for n in [next(i for i in range(len(k) + len(v) + 3, 1 << 30) if i == len(str(i)) + len(k) + len(v) + 3)])
    return entry(b"pax", text, kind=b"x") + entry(name, data)


CHART = entry(b"web/Chart.yaml", META) + entry(b"web/templates/a.yaml", b"a: 1\n")
END = b"\0" * 1024


def save(name, tar, packer=gzip.compress):
    with open(os.path.join(DIR, name + ".tgz"), "wb") as f:
        f.write(packer(tar))


# H2: names
PATHS = {
    "dotdot": b"web/../../out.yaml", "inner": b"web/a/../../../out.yaml", "absolute": b"/tmp/out.yaml",
    "backslash": b"web\\..\\..\\out.yaml", "drive": b"web/C:\\out.yaml", "slashes": b"web//tmp/out.yaml",
    "percent": b"web/%2e%2e/%2e%2e/out.yaml", "wide": "web/．．/．．/out.yaml".encode(), "only": b"..",
    "dot": b"web/.", "space": b"web/ ../out.yaml", "tilde": b"web/~/out.yaml", "newline": b"web/a\n/../../out.yaml",
}
for name, path in PATHS.items():
    save("path-" + name, CHART + entry(path, b"a: b\n") + END)
save("path-nul", CHART + pax(b"web/x", b"a: b\n", path=b"web/a\x00/../../out.yaml") + END)
save("path-empty", CHART + pax(b"web/x", b"a: b\n", path=b"") + END)
save("path-pax", CHART + pax(b"web/x", b"a: b\n", path=b"web/../../out.yaml") + END)
save("path-prefix", CHART + entry(b"../out.yaml", b"a: b\n", prefix=b"web/..") + END)
save("path-gnu", CHART + entry(b"././@LongLink", b"web/../../out.yaml\0", kind=b"L") + entry(b"web/x", b"a: b\n") + END)
save("path-long", CHART + pax(b"web/x", b"a: b\n", path=b"web/" + b"d/" * 2500 + b"x") + END)
save("path-deep", CHART + pax(b"web/x", b"a: b\n", path=b"web/" + b"d/" * 1000000 + b"x") + END)

# H4: links
for name, kind in {"symbolic": b"2", "hard": b"1", "device": b"3", "pipe": b"6"}.items():
    save("link-" + name, CHART + entry(b"web/templates/l.yaml", kind=kind, link=b"/etc/passwd") + END)
save("link-through", CHART + entry(b"web/d", kind=b"2", link=b"/tmp") + entry(b"web/d/out.yaml", b"a: b\n") + END)
save("link-metadata", entry(b"web/Chart.yaml", kind=b"2", link=b"/etc/passwd") + END)

# H21: sizes
def zeros(total):
    """Files that, with Chart.yaml, have `total` bytes in all."""
    left, i, out = total - len(META), 0, [entry(b"web/Chart.yaml", META)]
    while left > 0:
        n = min(left, 4 * MIB)
        out.append(entry(b"web/files/%d" % i, b"\0" * n))
        left -= n
        i += 1
    return b"".join(out) + END


for name, total in {"below": 99 * MIB + 900 * 1024, "at": 100 * MIB, "above": 100 * MIB + 100 * 1024}.items():
    save("bomb-" + name, zeros(total), lambda t: gzip.compress(t, 1))
save("bomb-nested", gzip.compress(zeros(8 * MIB), 1))
big = zeros(120 * MIB)
save("bomb-joined", big, lambda t: b"".join(gzip.compress(t[i:i + MIB], 1) for i in range(0, len(t), MIB)))
del big


def lies(tar, claim):
    packed = gzip.compress(tar)
    return packed[:-4] + claim.to_bytes(4, "little")


save("lie-small", CHART + END, lambda t: lies(t, 5))
save("lie-large", CHART + END, lambda t: lies(t, 0xFFFFFFFF))
for name, field in {"more": b"%011o\x00" % 4096, "huge": b"77777777777\x00", "negative": b"-0000000005\x00",
                    "base256": b"\x80" + b"\0" * 3 + b"\xff" * 8, "base256-negative": b"\xff" * 12, "letters": b"12345abc\x00\x00\x00\x00"}.items():
    save("size-" + name, CHART + header(b"web/x", size_field=field) + b"x")
sparse = bytearray(header(b"web/sparse", 512, kind=b"S", magic=b"ustar  \x00"))
sparse[386:410] = b"00000000000\x0000000001000\x00"
sparse[483:495] = b"77777777777\x00"
sparse[148:156] = b" " * 8
sparse[148:156] = b"%06o\x00 " % sum(sparse)
save("sparse-old", CHART + bytes(sparse) + b"x" * 512 + END)
save("sparse-pax", CHART + pax(b"web/x", b"1\n0\n5\n" + b"\0" * 506 + b"hello", **{
    "GNU.sparse.major": b"1", "GNU.sparse.minor": b"0", "GNU.sparse.name": b"web/y", "GNU.sparse.realsize": b"8589934592"}) + END)


def million(tar):
    """10^6 empty entries without holding them."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    one = entry(b"web/x") * 1000
    return pack.compress(tar) + b"".join(pack.compress(one) for _ in range(1000)) + pack.flush()


save("entries-million", CHART, million)

# C3: headers that other readers went wrong on
save("gnu-link", CHART + entry(b"././@LongLink", b"x" * 5000, kind=b"K") + entry(b"web/l", kind=b"2") + END)
save("gnu-link-cut", CHART + header(b"././@LongLink", 5000, kind=b"K") + b"x" * 100)
save("gnu-name-alone", CHART + entry(b"././@LongLink", b"web/y\0", kind=b"L") + END)
save("gnu-name-twice", CHART + entry(b"././@LongLink", b"web/y\0", kind=b"L") * 3 + entry(b"web/x", b"a: 1\n") + END)
save("gnu-name-zero", CHART + entry(b"././@LongLink", b"", kind=b"L") + entry(b"web/x") + END)
save("pax-no-end", CHART + entry(b"pax", b"99999 path=web/y", kind=b"x") + entry(b"web/x") + END)
save("pax-no-number", CHART + entry(b"pax", b"path=web/y\n", kind=b"x") + entry(b"web/x") + END)
save("pax-zero", CHART + entry(b"pax", b"0 path=web/y\n", kind=b"x") + entry(b"web/x") + END)
save("pax-huge", CHART + entry(b"pax", b"18446744073709551615 path=web/y\n", kind=b"x") + entry(b"web/x") + END)
save("pax-size", CHART + pax(b"web/x", b"abc", size=b"99999999999999999999") + END)
save("checksum", CHART + b"x" * 512 + END)
for other in ("zip", "rar", "7z", "xz", "cab"):
    magic = {"zip": b"PK\x03\x04", "rar": b"Rar!\x1a\x07\x01\x00", "7z": b"7z\xbc\xaf\x27\x1c", "xz": b"\xfd7zXZ\x00", "cab": b"MSCF"}[other]
    save("format-" + other, magic + b"\0" * 1000, lambda t: t)
    save("format-" + other + "-inside", magic + b"\0" * 1000)
