// SPDX-License-Identifier: Apache-2.0

// funcoracle writes what real Go code answers to generated cases, as data that the unit tests read without Go.
//
//	go run . semver   > ../../data/semver/cases.txt
//	go run . regex    > ../../data/regex/cases.txt
//	go run . funcs    > ../../data/template/functions.jsonl
//	go run . names    > ../../data/template/function_names.txt
//	go run . funcs 7  other templates, from another seed, to compare once
//
// Fields of the text files are separated by tabs; control characters, bytes above 0x7e and backslashes are \xNN.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '\\' {
			fmt.Fprintf(&b, "\\x%02x", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

var out = bufio.NewWriter(os.Stdout)

func row(fields ...any) {
	for i, f := range fields {
		if i > 0 {
			out.WriteByte('\t')
		}
		out.WriteString(escape(fmt.Sprint(f)))
	}
	out.WriteByte('\n')
}

func main() {
	commands := map[string]func(){"semver": semverCases, "regex": regexCases, "funcs": funcCases, "names": inventory}
	defer out.Flush()
	if len(os.Args) > 2 && os.Args[1] == "render" {
		for _, text := range os.Args[2:] {
			fmt.Fprintf(out, "%+v\n", render(text))
		}
		return
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: funcoracle semver|regex|funcs|names, or funcoracle render TEMPLATE...")
		os.Exit(2)
	}
	if os.Args[1] != "funcs" {
		fmt.Fprintln(out, "# written by tests/conformance/funcoracle; the answers are real Go's")
	}
	commands[os.Args[1]]()
}
