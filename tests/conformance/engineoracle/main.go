// SPDX-License-Identifier: Apache-2.0

// engineoracle renders templates with Helm's own engine, in one process.
//
//	engineoracle             JSON lines in, JSON lines out
//	engineoracle FILE.test…  rewrites the want and error sections of test files
//	engineoracle -compare PROGRAM SEED N   renders N random templates here and there
//	engineoracle -bench PROGRAM            measures both, one after the other
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
)

type testCase struct {
	Files  map[string]string `json:"files"`
	Values json.RawMessage   `json:"values"`
	Ints   bool              `json:"ints"` // whole numbers are int64, as from --set
	Strict bool              `json:"strict"`
	Lint   bool              `json:"lint"`
	Repeat int               `json:"repeat"` // render so often and report nanoseconds of CPU
}

type result struct {
	Out map[string]string `json:"out,omitempty"`
	Err string            `json:"err,omitempty"`
	Ns  int64             `json:"ns,omitempty"`
}

func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = integers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = integers(e)
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

func build(c testCase) (*chart.Chart, map[string]any, error) {
	values := map[string]any{}
	if len(c.Values) > 0 {
		if err := json.Unmarshal(c.Values, &values); err != nil {
			return nil, nil, err
		}
	}
	if c.Ints {
		integers(values)
	}
	ch := &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "c", Version: "0.1.0",
		AppVersion: "1.2.3", Annotations: map[string]string{"a": "b"}, Keywords: []string{"k"},
		Maintainers: []*chart.Maintainer{{Name: "m", Email: "e"}}}}
	for name, text := range c.Files {
		f := &common.File{Name: name, Data: []byte(text)}
		if strings.HasPrefix(name, "templates/") {
			ch.Templates = append(ch.Templates, f)
		} else {
			ch.Files = append(ch.Files, f)
		}
	}
	return ch, values, nil
}

func capabilities() *common.Capabilities {
	caps := common.DefaultCapabilities.Copy()
	kube, err := common.ParseKubeVersion("v1.33.4-gke.1")
	if err != nil {
		panic(err)
	}
	caps.KubeVersion = *kube
	caps.APIVersions = common.VersionSet{"v1", "apps/v1", "apps/v1/Deployment"}
	caps.HelmVersion.Version = "v4.2"
	caps.HelmVersion.GitCommit = "abc"
	caps.HelmVersion.GitTreeState = "clean"
	caps.HelmVersion.GoVersion = "go1.26"
	caps.HelmVersion.KubeClientVersion = "v1.36"
	return caps
}

// Of all threads: the garbage collector has its own.
func cpuTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func render(c testCase) (r result) {
	ch, values, err := build(c)
	if err != nil {
		return result{Err: "case: " + err.Error()}
	}
	options := common.ReleaseOptions{Name: "r", Namespace: "n", Revision: 1, IsInstall: true}
	rounds := max(c.Repeat, 1)
	start := cpuTime()
	for range rounds {
		top, err := util.ToRenderValues(ch, values, options, capabilities())
		if err != nil {
			return result{Err: "case: " + err.Error()}
		}
		out, err := engine.Engine{Strict: c.Strict, LintMode: c.Lint}.Render(ch, top)
		if err != nil {
			return result{Err: err.Error()}
		}
		r.Out = out
	}
	if c.Repeat > 0 {
		r.Ns = (cpuTime() - start) / int64(rounds)
	}
	return r
}

func lines() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var c testCase
			r := result{}
			if err := json.Unmarshal(line, &c); err != nil {
				r.Err = "case: " + err.Error()
			} else {
				r = render(c)
			}
			enc := json.NewEncoder(out)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(r); err != nil {
				panic(err)
			}
			out.Flush()
		}
		if err != nil {
			return
		}
	}
}

type section struct{ head, text string }

func sections(text string) (all []section) {
	cur := section{}
	var body []string
	flush := func() {
		if cur.head != "" {
			all = append(all, section{cur.head, strings.Join(body, "\n")})
		}
		body = nil
	}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			flush()
			cur = section{head: line}
			continue
		}
		body = append(body, line)
	}
	flush()
	return all
}

func update(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var out strings.Builder
	put := func(s section) {
		out.WriteString(s.head + "\n")
		if !strings.HasPrefix(s.head, "=== ") || s.text != "" {
			out.WriteString(s.text + "\n")
		}
	}
	c := testCase{}
	finish := func() {
		if c.Files == nil {
			return
		}
		r := render(c)
		if r.Err != "" {
			put(section{"--- error", r.Err})
		} else {
			put(section{"--- want", r.Out["c/templates/t.yaml"]})
		}
		c = testCase{}
	}
	for _, s := range sections(string(text)) {
		switch {
		case strings.HasPrefix(s.head, "=== "):
			finish()
			c.Files = map[string]string{}
		case s.head == "--- want" || s.head == "--- error":
			continue
		case s.head == "--- values":
			c.Values = json.RawMessage(s.text)
		case s.head == "--- int values":
			c.Values, c.Ints = json.RawMessage(s.text), true
		case s.head == "--- strict":
			c.Strict = true
		case s.head == "--- lint":
			c.Lint = true
		case s.head == "--- template":
			c.Files["templates/t.yaml"] = s.text
		case strings.HasPrefix(s.head, "--- file "):
			c.Files[strings.TrimPrefix(s.head, "--- file ")] = s.text
		default:
			return fmt.Errorf("%s: unknown section %q", path, s.head)
		}
		put(s)
	}
	finish()
	return os.WriteFile(path, []byte(out.String()), 0o644)
}

func main() {
	if len(os.Args) == 1 {
		lines()
		return
	}
	if os.Args[1] == "-compare" && len(os.Args) == 5 {
		seed, err := strconv.ParseInt(os.Args[3], 10, 64)
		if err != nil {
			panic(err)
		}
		n, err := strconv.ParseInt(os.Args[4], 10, 64)
		if err != nil {
			panic(err)
		}
		os.Exit(compare(os.Args[2], seed, n))
	}
	if os.Args[1] == "-bench" && len(os.Args) == 3 {
		bench(os.Args[2])
		return
	}
	for _, path := range os.Args[1:] {
		if err := update(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
