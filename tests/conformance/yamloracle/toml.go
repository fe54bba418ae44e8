// SPDX-License-Identifier: Apache-2.0

package main

import "strings"

var tomlLines = []string{
	"a = 1", "b = \"two\"", "c = 'three'", "d = 1.5", "e = true", "f = 1979-05-27T07:32:00Z", "g = 1979-05-27", "h = 07:32:00.999", "i = [1, 2, 3]",
	"j = [[1, 2], [\"a\"]]", "k = {x = 1, y = {z = 2}}", "l.m.n = 1", "l.m.o = 2", "\"q r\" = 1", "'s' = 2", "[t]", "[t.u]", "[[v]]", "[[v.w]]", "[x.y.z]", "[l.m]",
	"# comment", "", "aa = 0x1F", "bb = 0o17", "cc = 0b101", "dd = 1_000", "ee = +99", "ff = -0.0", "gg = 1e6", "hh = inf", "ii = -nan", "jj = \"\"\"", "multi", "line\"\"\"",
	"kk = '''raw", "text'''", "ll = \"esc \\n \\u00e9 \\U0001F600 \\x41 \\e\"", "mm = \"bad \\q\"", "nn = \"unclosed", "oo = 01", "pp = 1__0", "qq = 1.", "rr = .5", "ss = 1.e2", "tt = 99999999999999999999",
	"uu = ", "vv", "= 1", "ww = foo", "xx = [1, 2", "yy = [1,, 2]", "zz = {a = 1,}", "ab = {a = 1 b = 2}", "ac = 1 2", "ad = 1979-13-01", "ae = 1979-05-27 07:32", "af = 1979-05-27t07:32:00+09:30",
	"a = 2", "[t]", "[[t]]", "[]", "[a", "[.b]", "[a.b]", "ag = [ # c", " 1, # d", " ]", "ah = \"\"\"a \\", "   b\"\"\"", "ai = 'a\\b'", "aj = \"tab\\there\"", "ak = 0xg", "al = +0x1", "am = 1e",
	"an = [{a = 1}, {a = 2}]", "ao = [{a.b = 1}, 3]", "ap = {b.c = 1, b.d = 2}", "ap.e = 3", "[ap]", "aq = \"\"\"\"quoted\"\"\"\"", "é = 1", "ar = é", "as = \x01", "at = 1 # c", "l.m = 3", "b.x = 1", "[b]", "[[an]]",
	"au = 1e400", "av = 00:00", "aw = 12:61:00", "ax = 1_000.5_0", "ay = 0_1", "az = -1979-05-27", "ba = {", "bb2 = 1", "}", "bc = \"a\"b", "\"\" = 1", "bd = {}", "be = []", "bf = +inf", "bg = 1.5e-7", "bh.\"x.y\" = 1",
}

func (g gen) tomlText() []byte {
	if g.Intn(5) == 0 {
		if s, err := answer(frame{'u', g.json(g.tomlTree(3))}); err == nil {
			return g.mutate([]byte(s))
		}
	}
	var b strings.Builder
	for n := 1 + g.Intn(7); n > 0; n-- {
		b.WriteString(tomlLines[g.Intn(len(tomlLines))])
		b.WriteString("\n")
	}
	if g.Intn(8) == 0 {
		return g.mutate([]byte(b.String()))
	}
	return []byte(b.String())
}

func (g gen) tomlTree(depth int) any {
	if g.Intn(40) == 0 {
		return g.tree(2)
	}
	return g.tomlMap(depth)
}

func (g gen) tomlMap(depth int) map[string]any {
	m := map[string]any{}
	for n := g.Intn(6); n > 0; n-- {
		m[g.key()] = g.tomlValue(depth - 1)
	}
	return m
}

func (g gen) tomlValue(depth int) any {
	if depth > 0 {
		switch g.Intn(6) {
		case 0:
			return g.tomlMap(depth)
		case 1:
			l := []any{}
			for n := g.Intn(4); n > 0; n-- {
				l = append(l, g.tomlMap(depth-1))
			}
			return l
		case 2:
			l := []any{}
			for n := g.Intn(4); n > 0; n-- {
				v := g.tomlValue(depth - 1)
				if v == nil && g.Intn(8) > 0 {
					v = 1
				}
				l = append(l, v)
			}
			return l
		}
	}
	return g.scalar()
}
