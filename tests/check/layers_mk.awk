# awk -f tests/check/layers_mk.awk tests/check/layers.txt: for make, each module's libraries in link order.
/^#/ || NF == 0 { next }
{
    sub(/:/, "", $1); order[++n] = $1
    for (i = 2; i <= NF; i++) uses[$1, $i] = 1
}
END {
    for (m = 1; m <= n; m++) {
        line = "LIBS_" order[m] " := " order[m]
        for (i = m - 1; i >= 1; i--) {
            needed = uses[order[m], order[i]]
            for (k = m - 1; k > i && !needed; k--)
                needed = closure[m, k] && uses[order[k], order[i]]
            if (needed) { closure[m, i] = 1; line = line " " order[i] }
        }
        print line
        all = order[m] " " all
    }
    print "MODULES := " all
}
