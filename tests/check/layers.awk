# awk -f tests/check/layers.awk tests/check/layers.txt $(git ls-files 'pkg/*.[ch]' 'pkg/*.cc')
# A module may include its own files, any header of base, and <m>/<m>.h of the modules on its line.
FNR == NR && (/^#/ || NF == 0) { next }
FNR == NR {
    sub(/:/, "", $1); known[$1] = 1
    for (i = 2; i <= NF; i++) {
        if (!($i in known)) { print "layers.txt: " $1 " names " $i " before its line"; bad = 1 }
        allowed[$1, $i] = 1
    }
    next
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    seen++
    n = split(FILENAME, part, "/"); me = part[n - 1]
    inc = $0; sub(/^[^"]*"/, "", inc); sub(/".*/, "", inc); to = inc; sub(/\/.*/, "", to)
    if (!(me in known)) { print FILENAME ": module " me " is not in layers.txt"; bad = 1 }
    if (inc !~ /\//) { print FILENAME ":" FNR ": include \"" inc "\" does not name its module"; bad = 1 }
    else if (to == me) next
    else if (!((me, to) in allowed)) { print FILENAME ":" FNR ": " me " may not use " to; bad = 1 }
    else if (to != "base" && inc != to "/" to ".h") { print FILENAME ":" FNR ": " inc " is private to " to; bad = 1 }
}
END { if (!seen) { print "layers.awk: saw no include at all"; bad = 1 } exit bad }
