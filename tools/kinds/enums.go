// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// The OpenAPI documents of the repository are written without enumerations; a server has them, and the sentences about
// them, from its generated definitions. They are read as syntax: the package does not build outside of Kubernetes.
func (g *generator) loadEnums() {
	file := filepath.Join(g.root, "pkg/generated/openapi/zz_generated.openapi.go")
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	check(err)
	for _, d := range tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "schema_k8sio_api_") {
			continue
		}
		// schema_k8sio_api_core_v1_ContainerPort
		name := "io.k8s.api." + strings.ReplaceAll(strings.TrimPrefix(f.Name.Name, "schema_k8sio_api_"), "_", ".")
		s := g.schemas[name]
		if s == nil {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			kv, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			if key, ok := kv.Key.(*ast.BasicLit); ok {
				if p := s.Properties[unquote(key)]; p != nil {
					enumsOf(kv.Value, p)
				}
				return false
			}
			return true
		})
	}
}

func unquote(l *ast.BasicLit) string {
	s, err := strconv.Unquote(l.Value)
	check(err)
	return s
}

// The first Description below a property is its own; an Enum may be its own or its items'.
func enumsOf(e ast.Expr, p *openAPI) {
	description, inItems := "", false
	ast.Inspect(e, func(n ast.Node) bool {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		field, ok := kv.Key.(*ast.Ident)
		if !ok {
			return true
		}
		switch field.Name {
		case "Description":
			if l, ok := kv.Value.(*ast.BasicLit); ok && description == "" {
				description = unquote(l)
			}
		case "Items":
			inItems = true
		case "Enum":
			to := p
			if inItems && p.Items != nil {
				to = p.Items
			}
			for _, v := range kv.Value.(*ast.CompositeLit).Elts {
				to.Enum = append(to.Enum, unquote(v.(*ast.BasicLit)))
			}
			p.Description = description
		}
		return true
	})
}
