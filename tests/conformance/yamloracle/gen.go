// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
)

// Pieces that decide how a scalar is quoted, folded or resolved.
var pieces = []string{
	"a", "b", "Z", "x1", "10", "2", "0", "00", "-", "_", ".", ":", ": ", " #", "#", " ", "  ", "\n", "\n\n", "\t", "'", "\"",
	"\\", ",", "[", "]", "{", "}", "&", "*", "!", "|", ">", "%", "@", "`", "?", "? ", "- ", "---", "...", "=", "<<", "~", "é", "日本",
	"\u0085", "\u00a0", "\u2028", "\u2029", "\ufeff", "😀", "\r", "\r\n", "\x01", "\x7f", "yes", "no", "on", "true", "null", "0x1F",
	"0b1", "0o17", "1e3", "1.5", "1_000", "1:30", "2001-01-01", "2001-12-14t21:59:43.10-05:00", ".inf", ".nan", "word", "lorem ipsum dolor ",
	"sit-amet, consectetur adipiscing elit ", "https://example.com/a/b?c=d&e=f", "longwordwithoutanyblankatallinit", "k8s.io/name",
	"٣", "\u0301", "\xff", "ÿ", "ß", "$", "(", ")", "+", "-1", "+1", "08", "1.", "y", "N", "<", "&amp;", "/",
}

type gen struct{ *rand.Rand }

func (g gen) text(max int) string {
	if g.Intn(12) == 0 {
		return pieces[g.Intn(len(pieces))]
	}
	var b strings.Builder
	for n := g.Intn(max); n >= 0; n-- {
		b.WriteString(pieces[g.Intn(len(pieces))])
	}
	return b.String()
}

func (g gen) words() string {
	var b strings.Builder
	for n := g.Intn(40); n >= 0; n-- {
		b.WriteString(strings.Repeat(string(rune('a'+g.Intn(26))), 1+g.Intn(12)))
		switch g.Intn(12) {
		case 0:
			b.WriteString("  ")
		case 1:
			b.WriteString("\n")
		case 2:
			b.WriteString(": ")
		default:
			b.WriteString(" ")
		}
	}
	return strings.TrimSpace(b.String())
}

func (g gen) key() string {
	switch g.Intn(4) {
	case 0: // toYaml swallows what a next line in a key leads to: only the error's line would differ
		return strings.ReplaceAll(g.text(3), "\u0085", "")
	case 1:
		return fmt.Sprintf("%s%d%s", []string{"", "a", "key", "_", "A-", "a.b"}[g.Intn(6)], g.Intn(120), []string{"", "b", "-x", ".5", "_"}[g.Intn(5)])
	case 2:
		return strings.Repeat(string(rune('a'+g.Intn(26))), 1+g.Intn(140))
	}
	return string(rune('a' + g.Intn(26)))
}

func (g gen) scalar() any {
	switch g.Intn(12) {
	case 0:
		return nil
	case 1:
		return g.Intn(2) == 0
	case 2:
		return g.Intn(2000) - 1000
	case 3:
		return g.Int63() - g.Int63()
	case 4:
		return g.NormFloat64() * []float64{1, 1e-7, 1e3, 1e6, 1e20, 1e25}[g.Intn(6)]
	case 5:
		return float64(g.Intn(1 << 30))
	case 6:
		return g.words()
	case 7:
		return json.Number([]string{"18446744073709551615", "1e21", "1e20", "-0", "-0.0", "1.0", "1e6", "123456789012345678901"}[g.Intn(8)])
	}
	return g.text(5)
}

func (g gen) tree(depth int) any {
	if depth == 0 || g.Intn(3) == 0 {
		return g.scalar()
	}
	if g.Intn(2) == 0 {
		l := []any{}
		for n := g.Intn(4); n > 0; n-- {
			l = append(l, g.tree(depth-1))
		}
		return l
	}
	m := map[string]any{}
	for n := g.Intn(6); n > 0; n-- {
		m[g.key()] = g.tree(depth - 1)
	}
	return m
}

func (g gen) json(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func generate(seed int64, n int, ops string) []frame {
	g := gen{rand.New(rand.NewSource(seed))}
	var frames []frame
	for i := 0; i < n; i++ {
		for _, op := range []byte(ops) {
			var text []byte
			switch op {
			case 'p', 'q', 'i':
				if g.Intn(3) == 0 {
					text = g.json(g.scalar())
				} else {
					text = g.json(g.tree(4))
				}
			case 'j':
				text = g.mutate(g.json(g.tree(3)))
			case 'y', 's':
				text = g.yaml()
			case 't':
				text = g.tomlText()
			case 'u':
				text = g.json(g.tomlTree(4))
			case 'v':
				text = g.schemaCase()
			}
			frames = append(frames, frame{op, text})
		}
	}
	return frames
}

func (g gen) mutate(b []byte) []byte {
	for n := g.Intn(3); n > 0 && len(b) > 0; n-- {
		at := g.Intn(len(b))
		switch g.Intn(3) {
		case 0:
			b = append(b[:at:at], b[at+1:]...)
		case 1:
			b[at] = "{}[],:\"\\ \n\t'#-&*!|>%@`x0\xff?~"[g.Intn(27)]
		case 2:
			p := pieces[g.Intn(len(pieces))]
			b = append(b[:at:at], append([]byte(p), b[at:]...)...)
		}
	}
	return b
}

// Lines that make up documents: valid on their own, often not together.
var yamlLines = []string{
	"a: 1", "b: two", "c:", "- x", "- y: 1", "  z: 2", "  - q", "    deep: true", "d: |", "  text", "e: >-", "  folded", "  more", "",
	"f: [1, 2, {g: h}]", "i: {j: k, l: [m]}", "n: &anc", "o: *anc", "p: &s value", "q: *s", "<<: *anc", "  <<: {m: 1, a: 2}", "  <<: [*anc, {r: 3}]",
	"# comment", "---", "...", "? complex", ": value", "'quoted': \"double\\n\\u00e9\"", "t: !!str 12", "u: !!int \"3\"", "v: !local x", "w: !!binary aGVsbG8=",
	"yes: on", "1.5: float", "007: octal", "~: null key", "x: 'it''s'", "y: \"unclosed", "z: [unclosed", "\ttab: 1", "%YAML 1.1", "%TAG ! tag:x,2000:",
	"k: -", "- - - 1", "- ", "-", "aa: 2001-01-01", "bb: 12:30:45", "cc: !!float 1", "dd: !!timestamp 2001-01-01", "ee: @x", "ff: `x", "gg: a: b",
	"hh: \"a\\", "  b\"", "ii: {a, b: , c}", "jj: [a: b, c]", "{{ .Values.x }}", "kk: {{ .Values.x }}", "ll: !!null x", "mm: *unknown", "nn: !!bool maybe", "a: dup",
	"oo: 0x_1F", "pp: 1e400", "qq: -0.0", "rr: 9007199254740993", "ss: 18446744073709551615", "18446744073709551615: big", "tt: .inf", "uu: |2", "   x", "vv: |+", "ww: >",
	"  - a: b", "    c: d", "[a]: b", "{a: 1}: b", "xx: 'multi", "  line'", "yy: plain", "  continued", "é: ü", "zz: \"\\x41\\U0001F600\\ud800\"", "a\u0085b: 1", "ab: x\u2028y",
	"ac: {a: b}c", "ad: [a b", " c]", "ae: {? x : y}", "af: - x", "ag: \"\\q\"", "ah: #x", "ai: a#b", "aj: a #b", "ak: !<tag:yaml.org,2002:str> 5", "al: !!set {a}", "am: !foo!bar x",
	"an: &a&b x", "ao: &a *b", "ap: ? x", "aq: {a:1}", "ar: [a,,b]", "as: [,]", "at: {,}", "au: [a, ]", "av: a?b", "aw: [?x, a?]", "ax: {x: -1, y:-2}", "ay: http://x.y:80/z", "az: \x7f",
	"\"a\":1", "{\"a\":1}", "ba: !!merge <<", "!!str bb: x", "&k bc: x", "*k : x", "bd: \"\\/\"", "be: '\\n'", "bf:\tx", "bg: x\t", "- \t- x", "bh: |\t", "  x\ty", "bi: |x", "bj: \"a\n\n b\"",
}

// A text with one more line, at the depth of the line before it.
func (g gen) putLine(text string) []byte {
	more := []string{"{}", "[]", "{} # none", "[ ]", "\"\"", "null", "- {}"}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	at := g.Intn(len(lines))
	indent := len(lines[at]) - len(strings.TrimLeft(lines[at], " "))
	line := strings.Repeat(" ", indent) + more[g.Intn(len(more))]
	return []byte(strings.Join(slices.Insert(lines, at+1, line), "\n"))
}

func (g gen) yaml() []byte {
	switch g.Intn(8) {
	case 0: // a printed tree, damaged a little
		s, err := answer(frame{'p', g.json(g.tree(4))})
		if err == nil {
			return g.mutate([]byte(s))
		}
	case 1: // one scalar
		return []byte("a: " + g.text(4) + "\n")
	case 2:
		return []byte(g.text(5))
	case 3: // what toYaml of nothing leaves in a template
		s, err := answer(frame{'p', g.json(g.tree(4))})
		if err == nil {
			return g.putLine(s)
		}
	}
	var b strings.Builder
	for n := 1 + g.Intn(7); n > 0; n-- {
		if g.Intn(6) == 0 {
			b.WriteString("  ")
		}
		b.WriteString(yamlLines[g.Intn(len(yamlLines))])
		b.WriteString("\n")
	}
	if g.Intn(10) == 0 {
		return g.mutate([]byte(b.String()))
	}
	return []byte(b.String())
}
