// SPDX-License-Identifier: Apache-2.0
package main

import (
	"sort"
	"text/template"
	_ "unsafe" // for go:linkname

	_ "helm.sh/helm/v4/pkg/engine"
)

//go:linkname engineFuncMap helm.sh/helm/v4/pkg/engine.funcMap
func engineFuncMap() template.FuncMap

// The names that Helm's templates may call, without text/template's own.
func inventory() {
	var names []string
	for name := range engineFuncMap() {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		row(name)
	}
}
