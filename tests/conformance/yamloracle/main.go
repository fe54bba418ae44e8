// SPDX-License-Identifier: Apache-2.0

// yamloracle answers with the Go libraries that Helm 4.2.4 links. Test only.
//
//	yamloracle run  < frames > answers   what the libraries say to each frame
//	yamloracle gen SEED N OPS > frames   N made-up frames for each letter of OPS
//	yamloracle diff FRAMES WANT GOT      prints where two files of answers differ, exit 1 if they do
//	yamloracle table < frames            frames and answers as the text that tests/data keeps
//
// A frame is "OP LENGTH\n", the bytes and "\n"; an answer the same without OP.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

type frame struct {
	op   byte
	text []byte
}

func readFrames(r io.Reader, withOp bool) []frame {
	var frames []frame
	b := bufio.NewReaderSize(r, 1<<20)
	for {
		head, err := b.ReadString('\n')
		if err == io.EOF {
			return frames
		}
		f := frame{}
		head = strings.TrimSuffix(head, "\n")
		if withOp {
			f.op, head = head[0], head[2:]
		}
		n, err := strconv.Atoi(head)
		if err != nil {
			panic(fmt.Sprintf("bad frame %q", head))
		}
		f.text = make([]byte, n+1)
		if _, err := io.ReadFull(b, f.text); err != nil {
			panic(err)
		}
		f.text = f.text[:n]
		frames = append(frames, f)
	}
}

// A value with exact integers: what --set and literals in templates give.
func decodeExact(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return exact(v), nil
}

func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(string(v), 10, 64); err == nil {
			return u
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = exact(v[k])
		}
	}
	return v
}

func compact(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func indented(v any) (string, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	return string(b), err
}

func answer(f frame) (out string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	var v any
	switch f.op {
	case 'y': // YAML in
		if err := yaml.Unmarshal(f.text, &v); err != nil {
			return "", err
		}
		return compact(v)
	case 's': // YAML in, strict
		if err := yaml.UnmarshalStrict(f.text, &v); err != nil {
			return "", err
		}
		return compact(v)
	case 'j': // JSON in
		if err := json.Unmarshal(f.text, &v); err != nil {
			return "", err
		}
		return compact(v)
	case 'i': // JSON in, exact integers, out indented and with HTML escapes
		if v, err = decodeExact(f.text); err != nil {
			return "", err
		}
		return indented(v)
	case 'p', 'q': // JSON in, YAML out: sigs Marshal, and the v3 encoder
		if v, err = decodeExact(f.text); err != nil {
			return "", err
		}
		if f.op == 'p' {
			b, err := yaml.Marshal(v)
			return string(b), err
		}
		var b bytes.Buffer
		e := yamlv3.NewEncoder(&b)
		e.SetIndent(2)
		err := e.Encode(v)
		return b.String(), err
	case 't': // TOML in
		m := map[string]any{}
		if err := toml.Unmarshal(f.text, &m); err != nil {
			return "", err
		}
		return compact(m)
	case 'u': // JSON in, TOML out
		if v, err = decodeExact(f.text); err != nil {
			return "", err
		}
		var b bytes.Buffer
		err := toml.NewEncoder(&b).Encode(v)
		return b.String(), err
	case 'v': // ["schema as text", instance]
		return validate(f.text)
	}
	return "", fmt.Errorf("unknown operation %q", f.op)
}

func answerText(f frame) string {
	s, err := answer(f)
	if err != nil {
		return "error: " + err.Error()
	}
	return s
}

func diff(framesPath, wantPath, gotPath string) {
	open := func(p string, withOp bool) []frame {
		f, err := os.Open(p)
		if err != nil {
			panic(err)
		}
		return readFrames(f, withOp)
	}
	frames, want, got := open(framesPath, true), open(wantPath, false), open(gotPath, false)
	bad, shown := 0, 0
	for i, f := range frames {
		w, g := "(none)", "(none)"
		if i < len(want) {
			w = string(want[i].text)
		}
		if i < len(got) {
			g = string(got[i].text)
		}
		if f.op == 'v' {
			w, g = sortTree(w), sortTree(g)
		}
		if w == g {
			continue
		}
		bad++
		if shown++; shown <= 40 {
			at := 0
			for at < len(w) && at < len(g) && w[at] == g[at] {
				at++
			}
			fmt.Printf("%c %.400q\n  want %.160q\n  got  %.160q\n", f.op, f.text, w[max(at-60, 0):], g[max(at-60, 0):])
		}
	}
	fmt.Printf("%d of %d differ\n", bad, len(frames))
	if bad > 0 {
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: yamloracle run|gen|diff|table …")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch os.Args[1] {
	case "run":
		for _, f := range readFrames(os.Stdin, true) {
			s := answerText(f)
			fmt.Fprintf(out, "%d\n%s\n", len(s), s)
		}
	case "gen":
		seed, _ := strconv.ParseInt(os.Args[2], 10, 64)
		n, _ := strconv.Atoi(os.Args[3])
		for _, f := range generate(seed, n, os.Args[4]) {
			fmt.Fprintf(out, "%c %d\n%s\n", f.op, len(f.text), f.text)
		}
	case "diff":
		diff(os.Args[2], os.Args[3], os.Args[4])
	case "table":
		for _, f := range readFrames(os.Stdin, true) {
			if s := answerText(f); len(f.text) < 800 && len(s) < 800 && stable(f, s) {
				fmt.Fprintf(out, "%c %s\n= %s\n", f.op, strconv.QuoteToASCII(string(f.text)), strconv.QuoteToASCII(s))
			}
		}
	}
}

// Does the library give the same answer every time, or in the order of a map?
func stable(f frame, s string) bool {
	for i := 0; i < 20 && f.op == 'v'; i++ {
		if answerText(f) != s {
			return false
		}
	}
	return true
}
