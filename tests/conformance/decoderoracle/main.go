// SPDX-License-Identifier: Apache-2.0

// decoderoracle answers what the decoder that helm lint reads manifests with yields, for each text of
// tests/unit/chart/test_decoder.c's table: it reads the rows and prints them with the answers of apimachinery.
//
//	go run . <../../data/chart/decoder.rows >new && mv new ../../data/chart/decoder.rows
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"
)

type k8sYamlStruct struct {
	APIVersion string `json:"apiVersion"`
	Kind       string
	Metadata   k8sYamlMetadata
}

type k8sYamlMetadata struct {
	Namespace string
	Name      string
}

var escape = regexp.MustCompile(`\\x[0-9a-f]{2}`)

func decode(field string) string {
	return escape.ReplaceAllStringFunc(field, func(s string) string {
		n, _ := strconv.ParseUint(s[2:], 16, 8)
		return string([]byte{byte(n)})
	})
}

func encode(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '\\' {
			fmt.Fprintf(&out, "\\x%02x", c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

func answer(text string) string {
	var out strings.Builder
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for range 20 {
		var o *k8sYamlStruct
		err := decoder.Decode(&o)
		switch {
		case errors.Is(err, io.EOF):
			return out.String()
		case err != nil:
			return out.String() + "! " + strings.ReplaceAll(err.Error(), "main.k8s", "rules.k8s")
		case o == nil:
			out.WriteString("null; ")
		default:
			fmt.Fprintf(&out, "%s|%s|%s; ", o.APIVersion, o.Kind, o.Metadata.Name)
		}
	}
	return out.String()
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		line := lines.Text()
		if field, _, _ := strings.Cut(line, "\t"); line != "" && line[0] != '#' {
			line = field + "\t" + encode(answer(decode(field)))
		}
		fmt.Println(line)
	}
}
