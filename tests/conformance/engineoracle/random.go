// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Functions with the kinds of their arguments: s string, i int, f float, b bool, l list, m map, a anything, + repeat
// the one before, t template name, c literal, D a map nobody else has (a map put into itself would end Helm), T a time,
// L its layout, Z a zone, U a duration, o TOML, P a pattern. What depends on clock, random or map order is in snippets.
var functions = strings.Fields(`
abbrev:is abbrevboth:iis add:aa+ add1:a addf:aa+ adler32sum:s all:a+ any:a+ append:la atoi:s b32dec:s b32enc:s
b64dec:s b64enc:s base:s biggest:aa+ camelcase:s cat:a+ ceil:a chunk:il clean:s coalesce:a+ compact:l concat:l+
contains:ss deepCopy:a deepEqual:aa default:aa dict:sasa dict:sa dig:ssam dir:s div:aa divf:aa empty:a ext:s first:l
float64:a floor:a fromJson:s fromJsonArray:s fromYaml:s fromYamlArray:s get:ms has:al hasKey:ms hasPrefix:ss
hasSuffix:ss indent:is initial:l initials:s int:a int64:a isAbs:s join:sl kebabcase:s kindIs:sa kindOf:a last:l
list:a+ lower:s max:aa+ maxf:aa+ merge:Dm mergeOverwrite:Dm min:aa+ minf:aa+ mod:aa mul:aa+ mulf:aa+ mustAppend:la
mustCompact:l mustFirst:l mustFromJson:s mustHas:al mustInitial:l mustLast:l mustPrepend:la mustRest:l mustReverse:l
mustSlice:lii mustToJson:a mustToPrettyJson:a mustToRawJson:a mustUniq:l mustWithout:la nindent:is nospace:s omit:ms+
pick:ms+ pluck:sm+ plural:ssi prepend:la quote:a+ regexFind:ss regexFindAll:ssi regexMatch:ss regexQuoteMeta:s
regexReplaceAll:sss regexReplaceAllLiteral:sss regexSplit:ssi repeat:is replace:sss rest:l reverse:l round:ai semver:s
semverCompare:ss seq:ii set:msc sha1sum:s sha256sum:s sha512sum:s slice:lii snakecase:s sortAlpha:l split:ss
splitList:ss splitn:sis squote:a+ sub:aa subf:aa substr:iis swapcase:s ternary:aab title:s toDecimal:a toJson:a
toPrettyJson:a toRawJson:a toString:a toStrings:a toToml:m toYaml:a toYamlPretty:m trim:s trimAll:ss trimPrefix:ss
trimSuffix:ss trunc:is tuple:a+ typeIs:sa typeIsLike:sa typeOf:a uniq:l unset:ms until:i untilStep:iii untitle:s upper:s
urlParse:s without:la wrap:is wrapWith:iss
and:a+ or:a+ not:a eq:aa+ ne:aa lt:aa le:aa gt:aa ge:aa index:ls index:li index:ms index:mss len:a len:s len:l len:m
call:a date:LT dateInZone:LTZ dateModify:UT date_in_zone:LTZ date_modify:UT duration:a durationRound:U htmlDate:T
htmlDateInZone:TZ mustDateModify:UT must_date_modify:UT mustToDate:LL toDate:LL unixEpoch:T fromToml:o add1f:a hello:
lookup:ssss mustChunk:il mustDeepCopy:a mustMerge:Dm mustMergeOverwrite:Dm mustPush:la push:la mustRegexFind:ss
mustRegexFindAll:ssi mustRegexMatch:ss mustRegexReplaceAll:sss mustRegexReplaceAllLiteral:sss mustRegexSplit:ssi
mustToToml:m mustToYaml:a osBase:s osClean:s osDir:s osExt:s osIsAbs:s trimall:ss urlJoin:m getHostByName:s
derivePassword:usssz decryptAES:ss buildCustomCert:ss printf:sa+
print:a+ println:a+ html:a+ js:a+ urlquery:a+ required:sa include:ta include:ta tpl:sa fail:s
`)

var verbs = strings.Fields("%v %d %s %q %x %X %t %5d %-5s| %05.1f %.2f %e %g %T %c %U %o %b %+v %#v %6.2f %% %z %*d %[1]v %[2]v")

// ORACLE_SKIP names functions to leave out, separated by commas.
func init() {
	for _, name := range strings.Split(os.Getenv("ORACLE_SKIP"), ",") {
		functions = slices.DeleteFunc(functions, func(f string) bool { return strings.HasPrefix(f, name+":") })
	}
}

// Kinds of which nothing else may stand in: the clock or a map in itself would show.
const strict = "cDTLZUoPuz"

// Functions whose answers are random, depend on the clock or on the order of a map, in expressions that do not.
var snippets = snippetList(`ago (now)|now \| kindOf|typeOf (now)|len (randAlpha 5)|len (randAlphaNum 7)|len (randAscii 3)|randNumeric 4 \| len|len (b64dec (randBytes 4))
randInt 3 4|uuidv4 \| len|shuffle "aaa"|keys .Values.m \| sortAlpha|keys (dict "b" 1 "a" 2) .Values.m \| sortAlpha|values (dict "a" 1)|values .Values.me
decryptAES "k" (encryptAES "k" .Values.s)|encryptAES "k" "x" \| len|date "2006" nil \| len|date "06" .Values.n \| len`)

// The same, so slow that they stand at the end of a few templates alone.
var slowSnippets = snippetList(`genPrivateKey "ed25519" \| len|genPrivateKey "ecdsa" \| trunc 10|bcrypt "x" \| len|htpasswd "u" "p" \| len|htpasswd "a:b" "p"
(genCA "a" 1).Cert \| trunc 27|(genSelfSignedCert "a" nil nil 1).Key \| trunc 31|genCAWithKey "a" 1 (genPrivateKey "ed25519") \| kindOf
(genSelfSignedCertWithKey "a" (list "10.0.0.1") (list "b") 1 (genPrivateKey "ecdsa")).Cert \| trunc 27
(genSignedCert "a" nil nil 1 (genCAWithKey "a" 1 (genPrivateKey "ecdsa"))).Cert \| len \| lt 500
(genSignedCertWithKey "a" nil nil 1 (genCAWithKey "a" 1 (genPrivateKey "ecdsa")) (genPrivateKey "ecdsa")).Cert \| trunc 27`)

func snippetList(text string) []string {
	list := strings.FieldsFunc(strings.ReplaceAll(text, `\|`, "\x00"), func(r rune) bool { return r == '|' || r == '\n' })
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], "\x00", "|")
	}
	return list
}

type random struct {
	*rand.Rand
	out   strings.Builder
	vars  []string
	depth int
	loops int
	// Without .Capabilities in the context, which prints as an address: then the context itself may be printed.
	bare bool
}

func (r *random) pick(words ...string) string { return words[r.Intn(len(words))] }
func (r *random) chance(percent int) bool     { return r.Intn(100) < percent }

func (r *random) stringLiteral() string {
	s := r.pick("", "a", "abc", "x", "k1", "1", "3.5", "true", "a,b,c", "Hello World", "foo_bar-baz", "héllo", "[a-c]+", "(",
		"a.b", "1.2.3", ">=1.2", "a: 1\nb: [1, 2]", `{"a":1,"b":[true,null]}`, "/a/b.txt", "http://h:80/p?q=1#f", "  pad ",
		"line1\nline2\n", "<b>&'\"", "{{ . }}", "{{ .Values.s }}", "{{ .x", "template: x", "YWJj", "%d %s", "\t", "0x1f", "1e3", "-5", "string", "int")
	if r.chance(15) && !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

func (r *random) number() string {
	return r.pick("0", "1", "2", "3", "-1", "10", "5", "1.5", "-2.5", "0.0", "1e3", "0x1F", "'a'", "1e4", "100", "0b11", "1_0", ".5", "12345", "1i", "0i", "1.5-2i")
}

func (r *random) field() string {
	if r.chance(80) {
		return r.pick(".Values.s", ".Values.n", ".Values.f", ".Values.t", ".Values.no", ".Values.nil", ".Values.l", ".Values.ln", ".Values.m", ".Values.m.x", ".Values.m.y.z", ".Values.m.no", ".Values.maps", ".Values.mixed", ".Release.Name", ".Chart.Name", ".Values.uni", ".Values.big")
	}
	if !r.bare && r.chance(15) {
		return r.pick(".Capabilities.KubeVersion.Version", `(.Capabilities.APIVersions.Has "v1")`, ".Capabilities.APIVersions", ".Capabilities.KubeVersion", ".Capabilities.HelmVersion", ".Capabilities.KubeVersion.GitVersion")
	}
	return r.pick(".Values.s", ".Values.n", ".Values.f", ".Values.t", ".Values.no", ".Values.nil", ".Values.e", ".Values.l", ".Values.ln", ".Values.le", ".Values.m",
		".Values.m.x", ".Values.m.y", ".Values.m.y.z", ".Values.m.nul", ".Values.m.no", ".Values.me", ".Values.maps", ".Values.mixed", ".Values.m.no.deep",
		".Values.s.x", ".Values", ".Release.Name", ".Release.Revision", ".Release.IsInstall", ".Chart.Name", ".Chart.no", ".Chart.Annotations", ".Chart.Annotations.a",
		".Chart.Maintainers", ".Files", `(.Files.Get "f.txt")`, `(.Files.Lines "f.txt")`, `(.Files.Glob "*")`, ".Template.Name", ".x", ".name", ".v", ".no.no", ".Values.big", ".Values.uni", ".Values.AsMap", `(.Values.Table "m")`, `(.Values.PathValue "m.x")`)
}

func (r *random) variable() string {
	if len(r.vars) == 0 || r.chance(10) {
		return r.pick(r.root("$"), "$.Values.s", "$.Values.m.x", "$.Values.no", "$.Values.l")
	}
	v := r.vars[r.Intn(len(r.vars))]
	if r.chance(20) {
		return v + r.pick(".x", ".y.z", ".no", ".name", ".no.no")
	}
	return v
}

// An operand of roughly the kind; often enough of another one.
func (r *random) operand(kind byte, depth int) string {
	if r.chance(2) && !strings.ContainsRune(strict, rune(kind)) {
		kind = "sifblma"[r.Intn(7)]
	}
	if r.chance(15) && depth < 3 {
		if call := r.callOf(kind, depth+1); call != "" {
			return "(" + call + ")"
		}
	}
	if r.chance(3) && depth < 3 && !strings.ContainsRune(strict, rune(kind)) {
		return "(" + r.pipeline(depth+1) + ")" + r.suffix()
	}
	switch kind {
	case 's':
		return r.pick(r.stringLiteral(), r.stringLiteral(), ".Values.s", ".Values.uni", ".Values.m.x", r.variable())
	case 'i':
		// Nothing large: Helm has no limits.
		return r.pick("1", "2", "3", "0", "-1", "5", "10", "0x1F", "'a'", "1.0", "1.5", "(int .Values.n)", "(len .Values.l)", r.variable())
	case 'T':
		return r.pick("(int64 0)", "(int64 1234567890)", "(int 1700000000)", "(int64 -99999999999)", `(toDate "2006-01-02" "2019-07-04")`,
			`(toDate "2006-01-02 15:04:05 -0700" "2020-02-29 23:59:59 +0530")`, `(fromToml "t = 1979-05-27T07:32:00.5-08:00").t`, `(fromToml "t = 1979-05-27").t`)
	case 'L':
		return r.pick(`"2006-01-02"`, `"2006-01-02T15:04:05Z07:00"`, `"Mon Jan _2 15h 2006"`, `"Monday, 02-Jan-06 15:04:05 MST"`, `"3:04PM"`, `"15:04 -07"`,
			`"002 __2 06"`, `"Z0700 -07:00:00 pm"`, `""`, `"x2006y"`, `"2020-01-31"`, `"Tue Nov  3 23:00:00 2009"`)
	case 'Z':
		return r.pick(`"UTC"`, `""`, `"Europe/Berlin"`, `"America/New_York"`, `"Asia/Kolkata"`, `"Nowhere/None"`, `"Australia/Lord_Howe"`, `"Etc/GMT+5"`)
	case 'U':
		return r.pick(`"1h"`, `"-1.5h"`, `"2h10m5s"`, `"bad"`, `""`, `"1h15m30.918273645s"`, `"100ms"`, `"8760h1ns"`, `"1µs"`, `"0"`, `"10000000h"`)
	case 'o':
		return r.pick(`"a = 1\nb = [1, 2]\n[c]\nd = \"x\""`, `""`, `"a ="`, `"a = 1.5"`, `"[[c]]\nd = 1\n[[c]]\nd = 2"`, `"a = 1\na = 2"`, `"t = 2020-01-02T03:04:05Z"`,
			`"t = 2020-01-02 03:04:05.25"`, `"t = [2020-01-02]"`, `"t = 03:04:05"`, `"a.b = 1"`, `"x = 0x1F"`, `"x = 'lit'"`)
	case 'P':
		return r.pick(`"*"`, `"**"`, `"f*"`, `"*.txt"`, `"{f,g}*"`, `"[a-f]*"`, `"[!f]*"`, `"?.txt"`, `"f**t"`, `"f{.txt"`, `"\\f*"`, `"["`, `"*{.t,x}xt"`, `"{,f}{.txt}"`)
	case 'u':
		return r.pick("1", "2", "0", "4294967295")
	case 'z':
		return r.pick(`"example.com"`, `""`, `"é"`)
	case 'c':
		return r.pick(r.stringLiteral(), r.number())
	case 'D':
		return r.pick("dict", `(dict "a" 1 "x" (dict "y" nil))`, "(deepCopy .Values.m)", `(dict "l" .Values.l)`)
	case 'b':
		return r.pick("true", "false", ".Values.t", "(eq 1 1)", ".Values.fa")
	case 'l':
		return r.pick(".Values.l", ".Values.ln", ".Values.le", ".Values.mixed", ".Values.maps", "(list 1 2 3)", `(list "b" "a" nil 1.5 "b")`, "(until 4)", `(splitList "," "a,b,a")`, "list", r.variable())
	case 'm':
		return r.pick(".Values.m", ".Values.me", ".Values", ".Values.m.y", `(dict "a" 1 "x" "X")`, "dict", ".Chart.Annotations", ".Values.no", r.variable())
	case 't':
		return r.pick(`"h0"`, `"h1"`, `"h2"`, `"h2"`, `"none"`, `"c/templates/o.yaml"`)
	}
	return r.pick(r.field(), r.field(), r.variable(), r.stringLiteral(), r.number(), r.root("."), "nil", "true", "false", r.field())
}

func (r *random) root(s string) string {
	if r.bare {
		return s
	}
	return strings.TrimSuffix(s, ".") + ".Values"
}

// What functions give: a call whose result has the kind.
var results = map[byte][]string{
	's': strings.Fields("upper lower trim quote squote b64enc toYaml toJson print printf replace trunc join cat indent nindent repeat camelcase snakecase kebabcase title sha256sum toString trimSuffix trimPrefix default dir base regexReplaceAll html include"),
	'i': strings.Fields("len int"),
	'b': strings.Fields("eq ne and or not hasKey has contains hasPrefix empty kindIs typeIs"),
	'l': strings.Fields("list append prepend concat uniq without compact rest initial reverse sortAlpha splitList until toStrings tuple fromJsonArray chunk slice"),
	'm': strings.Fields("dict set unset merge mergeOverwrite pick omit deepCopy fromYaml fromJson split"),
}

func (r *random) callOf(kind byte, depth int) string {
	names := results[kind]
	if len(names) == 0 {
		return ""
	}
	name := names[r.Intn(len(names))]
	for _, f := range functions {
		if strings.HasPrefix(f, name+":") {
			return r.callFunction(f, depth, false)
		}
	}
	return ""
}

func (r *random) suffix() string {
	if r.chance(15) {
		return r.pick(".x", ".y", ".y.z", ".no", ".a", ".no.no")
	}
	return ""
}

func (r *random) call(depth int, piped bool) string {
	switch n := r.Intn(1000); {
	case n < 80:
		return r.printf(depth, piped)
	case n < 95 && !piped:
		return snippets[r.Intn(len(snippets))]
	case n < 105 && !piped:
		return ".Files.Glob " + r.operand('P', depth) + " | len"
	}
	f := functions[r.Intn(len(functions))]
	if (f == "fail:s" || strings.HasPrefix(f, "must")) && r.chance(90) {
		f = "upper:s"
	}
	return r.callFunction(f, depth, piped)
}

func (r *random) callFunction(f string, depth int, piped bool) string {
	name, kinds, _ := strings.Cut(f, ":")
	var args []byte
	for i := 0; i < len(kinds); i++ {
		if kinds[i] == '+' {
			for range r.Intn(3) {
				args = append(args, kinds[i-1])
			}
			continue
		}
		args = append(args, kinds[i])
	}
	if piped && len(args) > 0 {
		args = args[:len(args)-1]
	}
	if r.chance(1) {
		args = append(args, 'a')
	} else if r.chance(1) && len(args) > 0 {
		args = args[1:]
	}
	words := []string{name}
	for _, k := range args {
		words = append(words, r.operand(k, depth))
	}
	return strings.Join(words, " ")
}

func (r *random) printf(depth int, piped bool) string {
	format, n := "", r.Intn(3)
	for range n + r.Intn(2) {
		format += verbs[r.Intn(len(verbs))] + " "
	}
	words := []string{"printf", strconv.Quote(format)}
	for range n {
		words = append(words, r.operand('a', depth))
	}
	return strings.Join(words, " ")
}

func (r *random) pipeline(depth int) string {
	first := ""
	switch {
	case r.chance(35):
		first = r.field()
	case r.chance(20):
		first = r.operand("sifblma"[r.Intn(7)], depth)
	default:
		first = r.call(depth, false)
	}
	if first == "nil" && r.chance(95) {
		first = "1"
	}
	for r.chance(20) {
		first += " | " + r.pick("quote", "toString", "upper", "print", "len", "toYaml", "toJson", "default 1", "nindent 2", "first", "int", "trunc 5", "not", "empty", "list", "kindOf", "typeOf", "printf \"%v\"", "printf \"%T\"", r.call(depth, true))
	}
	return first
}

func (r *random) open() string  { return r.pick("{{ ", "{{", "{{- ", "{{ ") }
func (r *random) close() string { return r.pick(" }}", "}}", " -}}", " }}") }
func (r *random) action(s string) {
	r.out.WriteString(r.open() + s + r.close())
}

func (r *random) body(n int) {
	mark := len(r.vars)
	for range n {
		r.node()
	}
	r.vars = r.vars[:mark]
}

func (r *random) declare() string {
	v := "$" + r.pick("x", "y", "z", "v1")
	return v
}

func (r *random) control() {
	word := r.pick("if", "if", "with", "range")
	mark := len(r.vars)
	pipe := r.pipeline(1)
	switch {
	case word == "range" && r.chance(40):
		v, w := r.declare(), r.declare()
		pipe = v + ", " + w + " := " + r.operand("lm"[r.Intn(2)], 1)
		r.vars = append(r.vars, v, w)
	case word == "range":
		pipe = r.operand("lmi"[r.Intn(3)], 1)
		if r.chance(40) {
			v := r.declare()
			pipe = v + " := " + pipe
			r.vars = append(r.vars, v)
		}
	case r.chance(15):
		v := r.declare()
		pipe = v + " := " + pipe
		r.vars = append(r.vars, v)
	}
	r.action(word + " " + pipe)
	if word == "range" {
		r.loops++
	}
	r.body(1 + r.Intn(3))
	if word == "range" {
		r.loops--
	}
	if word != "range" && r.chance(20) {
		r.action("else " + word + " " + r.pipeline(1))
		r.body(1 + r.Intn(2))
	}
	if r.chance(30) {
		r.action("else")
		r.body(1 + r.Intn(2))
	}
	r.action("end")
	r.vars = r.vars[:mark]
}

func (r *random) node() {
	r.depth++
	defer func() { r.depth-- }()
	switch n := r.Intn(100); {
	case n < 25:
		r.out.WriteString(r.pick("text", "\n", " ", "a: ", "- ", "\n  b", "<no value>", "{ }", "é", "\t\n", "# c\n"))
	case n < 32:
		v := r.declare()
		r.action(v + " := " + r.pipeline(0))
		r.vars = append(r.vars, v)
	case n < 36 && len(r.vars) > 0:
		r.action(r.vars[r.Intn(len(r.vars))] + " = " + r.pipeline(0))
	case n < 55 && r.depth < 5:
		r.control()
	case n < 58:
		r.out.WriteString("{{/* comment */}}")
	case n < 61:
		r.action("template " + r.operand('t', 9) + " " + r.operand('a', 2))
	case n < 64 && r.loops > 0:
		r.action(r.pick("break", "continue"))
	default:
		r.action(r.pipeline(0))
	}
}

// Now and then a mistake: a byte less, a byte more.
func (r *random) damage(s string) string {
	if !r.chance(3) || len(s) < 4 {
		return s
	}
	at := r.Intn(len(s))
	if r.chance(50) {
		return strings.ToValidUTF8(s[:at]+s[at+1:], "")
	}
	return strings.ToValidUTF8(s[:at], "") + r.pick("{", "}", "(", ")", "|", " ", "\"", "-", ".", "$", "{{", "}}", "=", ",") + strings.ToValidUTF8(s[at:], "")
}

const randomValues = `{"s":"str","n":3,"f":1.5,"big":0.0000012,"t":true,"fa":false,"nil":null,"e":"","l":["a","b","c"],"ln":[1,2,3],
"le":[],"m":{"x":"X","y":{"z":"Z"},"nul":null,"a b":1},"me":{},"mixed":[1,"two",null,true,{"k":"v"},[1,2]],
"uni":"héllo 世界","maps":[{"name":"a","v":1},{"name":"b","v":2}]}`

// A template that renders is made of parts that do: what fails is thrown away. Every third is left as it comes.
func (r *random) parts(n int, test func(text string) bool) string {
	text := ""
	for tries := 3 * n; n > 0 && tries > 0; tries-- {
		mark := len(r.vars)
		r.out.Reset()
		r.node()
		if test == nil || test(text+r.out.String()) {
			text += r.out.String()
			n--
			continue
		}
		r.vars = r.vars[:mark]
	}
	return text
}

func randomCase(seed int64) testCase {
	r := &random{Rand: rand.New(rand.NewSource(seed))}
	r.bare = r.chance(50)
	c := testCase{Values: json.RawMessage(randomValues), Ints: r.chance(20), Strict: r.chance(5), Files: map[string]string{
		"templates/o.yaml": "other {{ .Values.s }}", "f.txt": "one\ntwo\n"}}
	before := ""
	if r.bare {
		before = `{{- $_ := unset . "Capabilities" -}}`
	}
	test := func(text string) bool {
		c.Files["templates/t.yaml"] = before + text
		return render(c).Err == ""
	}
	if r.chance(35) {
		test = nil
	}
	helpers := `{{ define "leaf" }}leaf{{ end }}`
	c.Files["templates/_h.tpl"] = helpers
	for i := range 3 {
		r.vars = nil
		body := withoutRecursion(r.parts(1+r.Intn(4), test))
		helpers += fmt.Sprintf("{{ define \"h%d\" }}%s{{ end }}\n", i, body)
	}
	c.Files["templates/_h.tpl"] = helpers
	r.vars = nil
	text := r.parts(10+r.Intn(14), test)
	if test == nil {
		text, c.Files["templates/_h.tpl"] = r.damage(text), r.damage(helpers)
	}
	if r.chance(3) {
		text += "{{ " + slowSnippets[r.Intn(len(slowSnippets))] + " }}"
	}
	c.Files["templates/t.yaml"] = before + text
	return c
}

func withoutRecursion(s string) string {
	for _, f := range []string{"include", "template"} {
		for _, n := range []string{"h0", "h1", "h2"} {
			s = strings.ReplaceAll(s, f+" \""+n+"\"", map[string]string{"include": "print", "template": "template"}[f]+" \"leaf\"")
		}
	}
	return s
}
