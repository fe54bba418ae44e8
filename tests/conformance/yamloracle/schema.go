// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

type permissive struct{}

func (permissive) Load(string) (any, error) { return true, nil }

// We load nothing, so nothing may be loaded here.
type refuse struct{}

func (refuse) Load(string) (any, error) { return nil, errors.New("other documents are not loaded") }

// The library lists these in the random order of a map.
func sortNames(e *jsonschema.ValidationError) {
	if k, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		slices.Sort(k.Properties)
	}
	for _, c := range e.Causes {
		sortNames(c)
	}
}

// As Helm 4.2.4 validates values.
func validate(text []byte) (string, error) {
	var pair []json.RawMessage
	if err := json.Unmarshal(text, &pair); err != nil {
		return "", err
	}
	var schemaText string
	if err := json.Unmarshal(pair[0], &schemaText); err != nil {
		return "", err
	}
	var instance any
	if err := json.Unmarshal(pair[1], &instance); err != nil {
		return "", err
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(schemaText)))
	if err != nil {
		return "", err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{"file": refuse{}, "http": refuse{}, "https": refuse{}, "urn": permissive{}})
	if err := c.AddResource("file:///values.schema.json", schema); err != nil {
		return "", err
	}
	s, err := c.Compile("file:///values.schema.json")
	if err != nil {
		var ve *jsonschema.ValidationError
		if sve := (*jsonschema.SchemaValidationError)(nil); errors.As(err, &sve) && errors.As(sve.Err, &ve) {
			sortNames(ve)
		}
		return "", err
	}
	if err := s.Validate(instance); err != nil {
		sortNames(err.(*jsonschema.ValidationError))
		return strings.TrimPrefix(err.Error(), "jsonschema validation failed with 'file:///values.schema.json#'\n") + "\n", nil
	}
	return "", nil
}

// Siblings of a report come in random order: sorts them at every depth.
func sortTree(s string) string {
	type node struct {
		line     string
		children []*node
	}
	root := &node{}
	stack := []*node{root}
	for _, line := range strings.Split(strings.TrimSuffix(s, "\n"), "\n") {
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		n := &node{line: line}
		if depth+1 > len(stack) || !strings.HasPrefix(strings.TrimLeft(line, " "), "- ") {
			depth = 0
		}
		stack = append(stack[:depth+1], n)
		stack[depth].children = append(stack[depth].children, n)
	}
	var flat func(n *node) string
	flat = func(n *node) string {
		var parts []string
		for _, c := range n.children {
			parts = append(parts, flat(c))
		}
		slices.Sort(parts)
		return n.line + "\n" + strings.Join(parts, "")
	}
	return flat(root)
}

var formatValues = []string{
	"", "a", "2020-01-31", "2020-02-30", "2020-13-01", "20-1-1", "12:30:45Z", "23:59:60Z", "12:30:60Z", "12:30:45+01:30", "24:00:00Z", "2020-01-31T12:30:45Z", "2020-01-31t12:30:45.5-08:00",
	"P1Y2M3DT4H5M6S", "P1W", "P", "PT", "P1H", "PT1D", "1.2.3.4", "1.2.3", "01.2.3.4", "256.1.1.1", "::1", "1::2::3", "1:2:3:4:5:6:7:8", "1:2:3", "::ffff:1.2.3.4", "12345::", "fe80::1%eth0", "a@b.c", "a@b", "@b", "a..b@c",
	"\"a b\"@c.d", "a@[1.2.3.4]", "a@[IPv6:::1]", "a b@c", "example.com", "-a.b", "a-.b", "a_b", "a..b", "http://x.y/z?q=1#f", "http://[::1]:80/", "http://a:b/", ":x", "a:b", "/a/b", "//x/y", "http://a b/", "%zz", "http://%41/", "a\\b",
	"/a/~0", "/a/~2", "a/b", "1/a", "0#", "01/a", "123e4567-e89b-12d3-a456-426614174000", "123e4567", "123e4567-e89b-12d3-a456-42661417400g", "1.2.3", "1.2", "01.2.3", "1.2.3-a.01", "1.2.3+", "1.2.3-a+b", "v1.2.3", "(", "a{2,1}", "^a+$", "/x/{y}", "/x/{y", "/x/y}",
	"2020-01-31T12:30:45Z/P1D", "P1D/2020-01-31T12:30:45Z", "\x01",
}

var formatNames = []string{"json-pointer", "relative-json-pointer", "uuid", "duration", "period", "ipv4", "ipv6", "hostname", "email", "date", "time", "date-time", "uri", "uri-reference", "uri-template", "semver", "regex", "unknown"}

var schemaTypes = []string{"null", "boolean", "number", "integer", "string", "array", "object"}
var names = []string{"a", "b", "c", "ab", "x/y", "it's"}

func (g gen) name() string { return names[g.Intn(len(names))] }

func (g gen) instance(depth int) any {
	switch g.Intn(9) {
	case 0:
		return nil
	case 1:
		return g.Intn(2) == 0
	case 2:
		return g.Intn(20) - 5
	case 3:
		return []any{0.5, 1.5, 1e6, 1234.5, -1000, 0.1, 1e21, 0.3}[g.Intn(8)]
	case 4:
		return formatValues[g.Intn(len(formatValues))]
	case 5:
		return []string{"a", "b", "abc", "ünï", "it's \"q\""}[g.Intn(5)]
	}
	if depth == 0 {
		return 1
	}
	if g.Intn(2) == 0 {
		l := []any{}
		for n := g.Intn(5); n > 0; n-- {
			l = append(l, g.instance(depth-1))
		}
		return l
	}
	m := map[string]any{}
	for n := g.Intn(5); n > 0; n-- {
		m[g.name()] = g.instance(depth - 1)
	}
	return m
}

func (g gen) schemas(depth int) []any {
	l := []any{}
	for n := 1 + g.Intn(3); n > 0; n-- {
		l = append(l, g.schema(depth-1))
	}
	return l
}

func (g gen) schemaMap(depth int) map[string]any {
	m := map[string]any{}
	for n := 1 + g.Intn(3); n > 0; n-- {
		m[g.name()] = g.schema(depth - 1)
	}
	return m
}

func (g gen) nameList() []any {
	l := []any{}
	for _, i := range g.Perm(len(names))[:g.Intn(3)] {
		l = append(l, names[i])
	}
	return l
}

func (g gen) schema(depth int) any {
	if depth <= 0 || g.Intn(12) == 0 {
		switch g.Intn(6) {
		case 0:
			return true
		case 1:
			return false
		}
		return map[string]any{"type": schemaTypes[g.Intn(7)]}
	}
	m := map[string]any{}
	for n := 1 + g.Intn(3); n > 0; n-- {
		g.keyword(m, depth)
	}
	return m
}

func (g gen) keyword(m map[string]any, depth int) {
	switch g.Intn(38) {
	case 0, 1:
		m["type"] = schemaTypes[g.Intn(7)]
	case 2:
		m["type"] = []any{schemaTypes[g.Intn(3)], schemaTypes[3+g.Intn(4)]}
	case 3:
		m["const"] = g.instance(1)
	case 4:
		m["enum"] = []any{g.instance(0), "a"}
	case 5:
		m["format"] = formatNames[g.Intn(len(formatNames))]
	case 6:
		m["$ref"] = []string{"#/definitions/d", "#/definitions/e", "#", "#anch", "urn:x:y", "http://json-schema.org/draft-07/schema#", "other.json", "#/nowhere", "https://example.com/s.json"}[g.Intn(g.Intn(g.Intn(9)+1)+1)]
	case 7:
		m["minProperties"] = g.Intn(3)
	case 8:
		m["maxProperties"] = g.Intn(4)
	case 9:
		m["required"] = g.nameList()
	case 10, 11, 12:
		m["properties"] = g.schemaMap(depth)
	case 13:
		m["patternProperties"] = map[string]any{[]string{"^a", "b$", "."}[g.Intn(3)]: g.schema(depth - 1)}
	case 14:
		m["additionalProperties"] = g.schema(depth - 1)
	case 15:
		m["additionalProperties"] = false
	case 16:
		m["dependencies"] = map[string]any{g.name(): g.nameList(), "c": g.schema(depth - 1)}
	case 17:
		m["propertyNames"] = map[string]any{"maxLength": g.Intn(3), "pattern": "^[a-b]+$"}
	case 18:
		m["dependentRequired"] = map[string]any{g.name(): g.nameList()}
	case 19:
		m["dependentSchemas"] = g.schemaMap(depth)
	case 20:
		m["minItems"], m["maxItems"] = g.Intn(3), g.Intn(4)
	case 21:
		m["uniqueItems"] = true
	case 22, 23:
		m["items"] = g.schema(depth - 1)
	case 24:
		m["items"], m["additionalItems"] = g.schemas(depth), g.schema(depth-1)
	case 25:
		m["prefixItems"] = g.schemas(depth)
	case 26:
		m["contains"] = g.schema(depth - 1)
		if g.Intn(2) == 0 {
			m["minContains"], m["maxContains"] = g.Intn(3), g.Intn(3)
		}
	case 27:
		m["minLength"], m["maxLength"] = g.Intn(4), g.Intn(1500)
	case 28:
		m["pattern"] = []string{"^a", "[0-9]+", "it's", "("}[g.Intn(g.Intn(4)+1)]
	case 29:
		m[[]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}[g.Intn(4)]] = []any{1, 0.5, -3, 1000, 1e7}[g.Intn(5)]
	case 30:
		m["multipleOf"] = []any{2, 0.1, 0.01, 1.5, 1e-300, 0}[g.Intn(g.Intn(6)+1)]
	case 31:
		m["not"] = g.schema(depth - 1)
	case 32:
		m["allOf"] = g.schemas(depth)
	case 33:
		m["anyOf"] = g.schemas(depth)
	case 34:
		m["oneOf"] = g.schemas(depth)
	case 35:
		m["if"], m["then"], m["else"] = g.schema(depth-1), g.schema(depth-1), g.schema(depth-1)
	case 36:
		m["unevaluatedProperties"], m["unevaluatedItems"] = g.schema(depth-1), g.schema(depth-1)
	case 37: // mostly mistakes
		switch g.Intn(60) {
		case 0:
			m["type"] = "strong"
		case 1:
			m["minLength"] = -1
		case 2:
			m["required"] = "a"
		case 4:
			m["$id"] = []string{"sub.json", "urn:a:b", "http://x.y/z"}[g.Intn(3)]
		case 5, 6, 7, 8, 9, 10:
			m["$dynamicRef"] = "#anch"
		case 11, 12, 13, 14:
			m["$recursiveRef"] = "#"
		}
	}
}

var draftURLs = []string{"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema"}

func (g gen) schemaCase() []byte {
	s := g.schema(4)
	if m, ok := s.(map[string]any); ok {
		d := map[string]any{"properties": map[string]any{"a": g.schema(2)}, "not": g.schema(1)}
		d[[]string{"$anchor", "$dynamicAnchor"}[g.Intn(2)]] = "anch"
		m["definitions"] = map[string]any{"d": d, "e": g.schema(2)}
		if g.Intn(3) == 0 {
			m["$recursiveAnchor"] = true
		}
		if i := g.Intn(6); i < 5 {
			m["$schema"] = draftURLs[i]
		}
		for n := g.Intn(4); n > 0; n-- {
			g.keyword(m, 4)
		}
	}
	return g.json([]any{string(g.json(s)), g.instance(3)})
}
