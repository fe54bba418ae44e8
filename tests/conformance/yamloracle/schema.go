// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

type permissive struct{}

func (permissive) Load(string) (any, error) { return true, nil }

// As Helm 4.2.4 validates values, without its HTTP loader.
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
	c.UseLoader(jsonschema.SchemeURLLoader{"file": jsonschema.FileLoader{}, "urn": permissive{}})
	if err := c.AddResource("file:///values.schema.json", schema); err != nil {
		return "", err
	}
	s, err := c.Compile("file:///values.schema.json")
	if err != nil {
		return "", err
	}
	if err := s.Validate(instance); err != nil {
		return strings.TrimPrefix(err.Error(), "jsonschema validation failed with 'file:///values.schema.json#'\n") + "\n", nil
	}
	return "", nil
}

func (g gen) schemaCase() []byte { return nil }
