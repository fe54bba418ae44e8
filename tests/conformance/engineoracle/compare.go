// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

const shownMax = 20

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

// The program on the other side: a line in, a line out.
type peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startPeer(program string) *peer {
	p := &peer{cmd: exec.Command(program)}
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		panic(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	p.out = bufio.NewReaderSize(out, 1<<20)
	if err := p.cmd.Start(); err != nil {
		panic(err)
	}
	return p
}

func (p *peer) stop() {
	p.in.Close()
	p.cmd.Wait()
}

// False: the program has ended.
func (p *peer) render(c testCase) (r result, ok bool) {
	line, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return r, false
	}
	text, err := p.out.ReadBytes('\n')
	if err != nil || json.Unmarshal(text, &r) != nil {
		return r, false
	}
	return r, true
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

func differs(p *peer, c testCase) bool {
	theirs, ok := p.render(c)
	return ok && !same(normal(render(c)), theirs)
}

var token = regexp.MustCompile(`(?s)\{\{.*?\}\}|\s+|[^{\s]+|\{`)

// Takes away runs of tokens, shorter and shorter ones, as long as both sides still differ.
func shrink(p *peer, c testCase) testCase {
	for _, name := range []string{"templates/t.yaml", "templates/_h.tpl"} {
		parts := token.FindAllString(c.Files[name], -1)
		try := func(with []string) bool {
			smaller := c
			smaller.Files = maps.Clone(c.Files)
			smaller.Files[name] = strings.Join(with, "")
			if !differs(p, smaller) {
				return false
			}
			c, parts = smaller, with
			return true
		}
		for n := len(parts); n > 0; n /= 2 {
			for at := 0; at+n <= len(parts); {
				if !try(append(append([]string{}, parts[:at]...), parts[at+n:]...)) {
					at++
				}
			}
		}
	}
	return c
}

func show(p *peer, seed int64, c testCase) {
	c = shrink(p, c)
	ours := normal(render(c))
	theirs, _ := p.render(c)
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

// Renders random cases here and in the other program; prints the differences and what the cases were made of.
func compare(program string, seed, n int64) int {
	p := startPeer(program)
	defer p.stop()
	different := 0
	var s stats
	for i := range n {
		c := randomCase(seed + i)
		if os.Getenv("ORACLE_TRACE") != "" {
			fmt.Fprintf(os.Stderr, "seed %d\n%s\n%s\n", seed+i, c.Files["templates/_h.tpl"], c.Files["templates/t.yaml"])
		}
		theirs, ok := p.render(c)
		if !ok {
			fmt.Printf("seed %d: the other program ended: %s\n", seed+i, c.Files["templates/t.yaml"])
			return 1
		}
		ours := normal(render(c))
		s.add(c, ours.Err == "")
		if same(ours, theirs) {
			continue
		}
		if different++; different <= shownMax {
			show(p, seed+i, c)
		}
	}
	enough := s.report()
	fmt.Printf("%d templates from seed %d, %d of them render: %d differences\n", n, seed, s.rendered, different)
	if different > 0 || !enough {
		return 1
	}
	return 0
}
