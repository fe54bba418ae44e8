// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"math/rand"
	"regexp"
	"strings"
)

var patterns = []string{
	"", "a", "a*", "a+", "a?", "a*?", "(a)(b)?", "(a|b)*", "(|a)*", "(a*)*", "(a*)+", "^a", "a$", "^$", "(?m)^a$", "(?s).", ".", "\\bfoo\\b", "\\B", "[a-z]+", "[^a-z]", "[[:alpha:]]+", "[[:^alpha:]]",
	"\\d+", "\\D", "\\w+", "\\W", "\\s+", "\\S", "\\pL+", "\\p{Greek}", "\\P{Lu}", "\\p{^Lu}", "\\p{Letter}", "\\p{lower-case letter}", "\\p{Any}", "\\p{ASCII}", "\\p{Foo}", "\\pZ", "(?i)k", "(?i)straße", "(?U)a+", "(?i:a)b", "(?:a)", "(?P<x>a)", "(?<x>a)",
	"(?P<x>a)(?P<x>b)", "(?<x>a)(?<x>b)", "(?P<x>a", "(?P<1>a)", "(?P<é>a)", "(?<n", "(?<n>", "(?P<>a)", "(?<>a)", "(?P=n)", "(?'n'a)", "(", ")", "a)", "(a", "[", "[a", "[]a]", "[]", "[b-a]", "[a-\\d]", "[[:foo:]]", "[[:alpha:", "a**", "a*+", "a++", "a??", "a???", "*", "+a", "?", "a{2}", "a{2,}",
	"a{,2}", "a{2,1}", "a{1001}", "a{1000}", "a{2,1001}", "(a{100}){100}", "(a{30}){30}", "((a{10}){10}){11}", "a{1}{2}", "a{2}*", "a{-1}", "a{", "{1}", "x{2}{3}", "\\C", "\\1", "\\h", "\\R", "\\Z", "\\z", "\\A", "\\G", "\\k<y>", "\\Q.*\\E", "\\Qa", "\\Q(?<x>\\E", "\\", "a\\", "\\x41", "\\x{1F600}", "\\x{110000}",
	"\\x", "\\xg", "\\0", "\\07", "\\123", "\\8", "\\_", "\\-", "\\é", "\\n\\t\\a\\f\\v\\r", "\\e", "\\cA", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(?>a)", "(?#c)", "(?x)a", "(?i", "(?i-", "(?-)", "(?i-i)a", "(?-i)a", "(?--i)", "(?^a)", "(?", "(?:", "[(?<x>]", "[\\](?<x>]", "\xff", "a\xff", "[\xff]", "(\xff", "a|b|cd", "(a)|b", "|", "a||b", "()", "(())", "$",
	"^", "^*", "\\b*", "x*", "(?m)$", "a.c", "[^\\n]", "[\\d\\-x]", "[a\\-z]", "[-a]", "[a-]", "[^]a]", "é", "[é-ü]", ".{2}", "^.*$", "(.*)c(.*)", "(a+)(b+)", "([a-z]+)-([0-9]+)", "^([^:]+):(.*)$", "[\\s\\S]", "[[:word:]]", "[[:xdigit:]]+", "\\pN", "\\p{N", "\\p", "\\pé", "[\\p{Foo}]", "[\\C]",
	"[\\Q]\\E]", "(?i)[^k]", "(?s:.)(?-s:.)", "a{0}", "(a){0}b", "(?:a{0,2}){3}", "\\u0041", "[z-a]", "[a-a]", "((((((((((a))))))))))", "(?P<n>a)(?P<m>b)", "^v[0-9]+(\\.[0-9]+)*$", "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "(?i)^(true|false)$", "\\p{Ll}", "\\p{Lt}", "\\p{Han}", "\\p{L&}", "\\p{Is_Greek}", "\\p{greek}", "\\p{ Greek }", "\\p{LC}", "\\p{Cn}", "\\p{Co}", "\\p{Assigned}", "\\PL", "[\\pL\\d]", "[^\\p{Greek}a]", "\\p{Lowercase_Letter}", "\\p{Uppercase Letter}", "\\p{Nd}", "\\p{digit}", "\\p{punct}", "\\p{Cyrillic}",
}

var subjects = []string{
	"", "a", "aa", "ab", "abc", "baac", "aaaa", "foo bar", "a\nb", "a\n", "\na", "K\u212ak", "éü", "\xff", "a\xffb", "\xff\xfe", "x-1 y-22", "k: v: w", "STRASSE straße", "αβΓ", "😀x", "1.2.3", "v1.20.3", "web-1", "  \t\v ", "a.c(*)", "(?<x>", "]", "\\",
	"日本語", "\ufffd", "true", "ABC-def_123", "\x00\x01", "-", "S\nA",
}

func regexCases() {
	for _, p := range patterns {
		regexCase(p, 1)
	}
	random := rand.New(rand.NewSource(2))
	pieces := []string{"a", "b", "c", "é", ".", "*", "+", "?", "(", ")", "|", "[", "]", "^", "$", "a-c", "\\d", "\\w", "\\b", "{2}", "{1,3}", "(?:", "(?i)", "(?P<n>", "(?<m>", "\\pL", "-", "*?", "\\Q", "\\E", "[^a]", "[a-c]", "(a|b)"}
	for i := 0; i < 1500; i++ {
		var b strings.Builder
		for n := random.Intn(7) + 1; n > 0; n-- {
			b.WriteString(pieces[random.Intn(len(pieces))])
		}
		regexCase(b.String(), 9)
	}
	for _, s := range append(subjects, "a.b*c[d]{e}^$|\\?+-_") {
		row("quote", s, regexp.QuoteMeta(s))
	}
}

// "find": pattern, subject, and every match as group offsets.
func regexCase(p string, step int) {
	re, err := regexp.Compile(p)
	if err != nil {
		row("error", p, err)
		return
	}
	row("groups", p, re.NumSubexp(), re.SubexpIndex("x"), re.SubexpIndex("n"))
	for i := len(p) % step; i < len(subjects); i += step {
		s := subjects[i]
		var all []string
		for _, m := range re.FindAllStringSubmatchIndex(s, -1) {
			all = append(all, strings.Trim(fmt.Sprint(m), "[]"))
		}
		row("find", p, s, strings.Join(all, ";"))
	}
}
