# SPDX-License-Identifier: Apache-2.0
# nm -A -g OBJECTS | awk -f symbols.awk prefixes.txt -
# A global of pkg/<m>/ begins with a prefix of <m>'s line; it is used by another object of the tree.
FNR == NR && (/^#/ || NF == 0) { next }
FNR == NR { sub(/:/, "", $1); for (i = 2; i <= NF; i++) prefix[$1] = prefix[$1] " " $i; next }
{
    file = $1; sub(/:.*/, "", file); sub(/^build\/plain\//, "", file); sub(/\.o$/, "", file)
    name = $NF; kind = $(NF - 1)
    if (kind == "U") { used[name] = 1; next }
    if (kind !~ /^[TDBRC]$/ || name ~ /^(main$|__|_Z|_fini|_init)/) next
    split(file, part, "/")
    if (part[1] == "tests") next
    where[name] = file
    me = part[1] == "cmd" ? "cmd" : part[2]
    fits = 0
    n = split(prefix[me] == "" ? " " me "_" : prefix[me], p, " ")
    for (i = 1; i <= n; i++) if (index(name, p[i]) == 1) fits = 1
    if (!fits) { print file ": " name " does not begin with" (prefix[me] == "" ? " " me "_" : prefix[me]); bad = 1 }
}
END {
    for (name in where)
        if (!(name in used)) { print where[name] ": " name " is used in no other file: make it static or drop it"; bad = 1 }
    exit bad
}
