// SPDX-License-Identifier: Apache-2.0

// flateoracle prints what Go's compress/flate makes, at its default level, of the texts of
// tests/unit/archive/test_deflate.c: kind, size, bytes of the stream, its SHA-256.
package main

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"fmt"
	"runtime"
)

var words = []string{"apiVersion: ", "kind: Deployment\n", "metadata:\n", "  name: ", "{{ .Values.image }}", "\n", "true", "    - "}

func text(kind, n int) []byte {
	state := uint32(n*31 + kind + 1)
	next := func() uint32 {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		return state
	}
	out := make([]byte, 0, n+32)
	for len(out) < n {
		r := next()
		switch kind {
		case 0:
			out = append(out, 0)
		case 1:
			out = append(out, byte(r>>8))
		case 2:
			out = append(out, words[r>>8&7]...)
		case 3:
			out = append(out, byte('a'+r>>8%4))
		case 4: // mostly what was there a window ago
			if len(out) > 32700 && r>>8&15 != 0 {
				out = append(out, out[len(out)-32700])
			} else {
				out = append(out, byte(r>>16))
			}
		default: // skewed: long codes
			b := byte(0)
			for v := r; v&1 == 1; v >>= 1 {
				b++
			}
			out = append(out, b*7+byte(len(out)>>14))
		}
	}
	return out[:n]
}

func main() {
	fmt.Printf("# %s; made by tests/conformance/flateoracle\n", runtime.Version())
	for kind := range 6 {
		for _, n := range []int{0, 1, 2, 3, 4, 5, 261, 262, 4096, 16383, 16384, 16385, 32768, 65274, 65536, 65537, 98304, 131072, 300000} {
			var out bytes.Buffer
			w, _ := flate.NewWriter(&out, flate.DefaultCompression)
			w.Write(text(kind, n))
			w.Close()
			fmt.Printf("%d\t%d\t%d\t%x\n", kind, n, out.Len(), sha256.Sum256(out.Bytes()))
		}
	}
}
