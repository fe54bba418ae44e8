// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Functions with the kinds of their arguments: s string, i int, f float, b bool, l list, m map, a anything, + repeat
// the one before, t template name, c literal, D a map nobody else has (a map put into itself would end Helm),
// G a list without room at its end (slice would reach into it). What depends on clock, random or map order is not here.
var functions = strings.Fields(`
abbrev:is abbrevboth:iis add:aa+ add1:a addf:aa+ adler32sum:s all:a+ any:a+ append:la atoi:s b32dec:s b32enc:s
b64dec:s b64enc:s base:s biggest:aa+ camelcase:s cat:a+ ceil:a chunk:il clean:s coalesce:a+ compact:l concat:l+
contains:ss deepCopy:a deepEqual:aa default:aa dict:sasa dict:sa dig:ssam dir:s div:aa divf:aa empty:a ext:s first:l
float64:a floor:a fromJson:s fromJsonArray:s fromYaml:s fromYamlArray:s get:ms has:al hasKey:ms hasPrefix:ss
hasSuffix:ss indent:is initial:l initials:s int:a int64:a isAbs:s join:sl kebabcase:s kindIs:sa kindOf:a last:l
list:a+ lower:s max:aa+ maxf:aa+ merge:Dm mergeOverwrite:Dm min:aa+ minf:aa+ mod:aa mul:aa+ mulf:aa+ mustAppend:la
mustCompact:l mustFirst:l mustFromJson:s mustHas:al mustInitial:l mustLast:l mustPrepend:la mustRest:l mustReverse:l
mustSlice:Gii mustToJson:a mustToPrettyJson:a mustToRawJson:a mustUniq:l mustWithout:la nindent:is nospace:s omit:ms+
pick:ms+ pluck:sm+ plural:ssi prepend:la quote:a+ regexFind:ss regexFindAll:ssi regexMatch:ss regexQuoteMeta:s
regexReplaceAll:sss regexReplaceAllLiteral:sss regexSplit:ssi repeat:is replace:sss rest:l reverse:l round:ai semver:s
semverCompare:ss seq:ii set:msc sha1sum:s sha256sum:s sha512sum:s slice:Gii snakecase:s sortAlpha:l split:ss
splitList:ss splitn:sis squote:a+ sub:aa subf:aa substr:iis swapcase:s ternary:aab title:s toDecimal:a toJson:a
toPrettyJson:a toRawJson:a toString:a toStrings:a toToml:m toYaml:a toYamlPretty:m trim:s trimAll:ss trimPrefix:ss
trimSuffix:ss trunc:is tuple:a+ typeIs:sa typeIsLike:sa typeOf:a uniq:l unset:ms until:i untilStep:iii untitle:s upper:s
urlParse:s without:la wrap:is wrapWith:iss
and:a+ or:a+ not:a eq:aa+ ne:aa lt:aa le:aa gt:aa ge:aa index:ls index:li index:ms index:mss len:a len:s len:l len:m
print:a+ println:a+ html:a+ js:a+ urlquery:a+ required:sa include:ta include:ta tpl:sa fail:s
`)

var verbs = strings.Fields("%v %d %s %q %x %X %t %5d %-5s| %05.1f %.2f %e %g %T %c %U %o %b %+v %#v %6.2f %% %z %*d %[1]v %[2]v")

// ORACLE_SKIP names functions to leave out, separated by commas.
func init() {
	for _, name := range strings.Split(os.Getenv("ORACLE_SKIP"), ",") {
		functions = slices.DeleteFunc(functions, func(f string) bool { return strings.HasPrefix(f, name+":") })
	}
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
	return r.pick("0", "1", "2", "3", "-1", "10", "5", "1.5", "-2.5", "0.0", "1e3", "0x1F", "'a'", "1e4", "100", "0b11", "1_0", ".5", "12345")
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
	if r.chance(2) && !strings.ContainsRune("cDG", rune(kind)) {
		kind = "sifblma"[r.Intn(7)]
	}
	if r.chance(15) && depth < 3 {
		if call := r.callOf(kind, depth+1); call != "" {
			return "(" + call + ")"
		}
	}
	if r.chance(3) && depth < 3 && !strings.ContainsRune("cDG", rune(kind)) {
		return "(" + r.pipeline(depth+1) + ")" + r.suffix()
	}
	switch kind {
	case 's':
		return r.pick(r.stringLiteral(), r.stringLiteral(), ".Values.s", ".Values.uni", ".Values.m.x", r.variable())
	case 'i':
		// Nothing large: Helm has no limits.
		return r.pick("1", "2", "3", "0", "-1", "5", "10", "0x1F", "'a'", "1.0", "1.5", "(int .Values.n)", "(len .Values.l)", r.variable())
	case 'G':
		return r.pick(".Values.l", ".Values.ln", "(list 1 2 3)", "(until 4)", ".Values.s", ".Values.no")
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

// Left out because Go's memory shows: lists of regexFindAll have room for ten, and slice reaches into it.
//
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
	if r.chance(8) {
		return r.printf(depth, piped)
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

func (r *random) text(n int) string {
	r.out.Reset()
	r.vars = nil
	r.body(n)
	return r.out.String()
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

func randomCase(seed int64) testCase {
	r := &random{Rand: rand.New(rand.NewSource(seed))}
	r.bare = r.chance(50)
	helpers := ""
	for i := range 3 {
		helpers += fmt.Sprintf("{{ define \"h%d\" }}", i) + r.text(1+r.Intn(4)) + "{{ end }}\n"
	}
	c := testCase{Values: json.RawMessage(randomValues), Files: map[string]string{
		"templates/_h.tpl": r.damage(withoutRecursion(helpers)), "templates/t.yaml": r.damage(r.text(2 + r.Intn(6))),
		"templates/o.yaml": "other {{ .Values.s }}", "f.txt": "one\ntwo\n"}}
	if r.bare {
		c.Files["templates/t.yaml"] = `{{- $_ := unset . "Capabilities" -}}` + c.Files["templates/t.yaml"]
	}
	c.Ints = r.chance(20)
	c.Strict = r.chance(5)
	return c
}

func withoutRecursion(s string) string {
	for _, f := range []string{"include", "template"} {
		for _, n := range []string{"h0", "h1", "h2"} {
			s = strings.ReplaceAll(s, f+" \""+n+"\"", map[string]string{"include": "print", "template": "template"}[f]+" \"leaf\"")
		}
	}
	return s + `{{ define "leaf" }}leaf{{ end }}`
}

var address = regexp.MustCompile(`0x[0-9a-f]{7,}`)

func same(a, b result) bool {
	for _, r := range []*result{&a, &b} {
		r.Err = address.ReplaceAllString(r.Err, "ADDRESS")
		for name, text := range r.Out {
			r.Out[name] = address.ReplaceAllString(text, "ADDRESS")
		}
	}
	if a.Err != "" || b.Err != "" {
		return a.Err == b.Err
	}
	return maps.Equal(a.Out, b.Out)
}

// Renders random cases here and in the other program; prints the differences.
func compare(program string, seed, n int64) int {
	cmd := exec.Command(program)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	answers := bufio.NewReaderSize(pipe, 1<<20)
	different, failed := 0, 0
	for i := range n {
		c := randomCase(seed + i)
		if os.Getenv("ORACLE_TRACE") != "" {
			fmt.Fprintf(os.Stderr, "seed %d\n%s\n%s\n", seed+i, c.Files["templates/_h.tpl"], c.Files["templates/t.yaml"])
		}
		line, err := json.Marshal(c)
		if err != nil {
			panic(err)
		}
		if _, err := in.Write(append(line, '\n')); err != nil {
			panic(err)
		}
		text, err := answers.ReadBytes('\n')
		if err != nil && err != io.EOF {
			panic(err)
		}
		var theirs result
		if err := json.Unmarshal(text, &theirs); err != nil {
			fmt.Printf("seed %d: the other program ended: %s\n", seed+i, c.Files["templates/t.yaml"])
			return 1
		}
		ours := normal(render(c))
		if ours.Err != "" {
			failed++
		}
		if same(ours, theirs) {
			continue
		}
		if different++; different <= 20 {
			show(seed+i, c, ours, theirs)
		}
	}
	in.Close()
	cmd.Wait()
	fmt.Printf("%d templates from seed %d, %d of them errors: %d differences\n", n, seed, failed, different)
	if different > 0 {
		return 1
	}
	return 0
}

// As it comes back from JSON.
func normal(r result) result {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	r = result{}
	if err := json.Unmarshal(text, &r); err != nil {
		panic(err)
	}
	return r
}

func show(seed int64, c testCase, ours, theirs result) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "==== seed %d\n-- template\n%s\n-- helpers\n%s\n", seed, c.Files["templates/t.yaml"], c.Files["templates/_h.tpl"])
	if ours.Err != "" || theirs.Err != "" {
		fmt.Fprintf(&b, "-- helm error\n%s\n-- pintle error\n%s\n", ours.Err, theirs.Err)
	}
	for name, text := range ours.Out {
		if theirs.Out[name] != text {
			fmt.Fprintf(&b, "-- helm %s\n%q\n-- pintle\n%q\n", name, text, theirs.Out[name])
		}
	}
	os.Stdout.Write(b.Bytes())
}
