// SPDX-License-Identifier: Apache-2.0

// kinds writes the tables of built-in kinds: pkg/apiserver/kinds_gen*.c and kinds_gen.h.
//
// Field names, protobuf numbers, pointers and omitempty come from the Go types (reflection); verbs, short names and
// subresources from Kubernetes' own discovery document, descriptions, patch and list keys from its OpenAPI documents
// (both files of the k8s.io/kubernetes module, which is downloaded but not built).
//
//	cd tools/kinds && go run . ../../pkg/apiserver
//	cd tools/kinds && go run . vectors ../../tests/data/apiserver/proto.txt
//	cd tools/kinds && go run . patches ../../tests/data/apiserver/strategic.jsonl
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

const kubernetesVersion = "v1.34.4"

// Groups in discovery order; in a group the preferred version first.
var served = []schema.GroupVersion{
	{Group: "", Version: "v1"},
	{Group: "apiregistration.k8s.io", Version: "v1"},
	{Group: "apps", Version: "v1"},
	{Group: "events.k8s.io", Version: "v1"},
	{Group: "authentication.k8s.io", Version: "v1"},
	{Group: "authorization.k8s.io", Version: "v1"},
	{Group: "autoscaling", Version: "v2"},
	{Group: "autoscaling", Version: "v1"},
	{Group: "batch", Version: "v1"},
	{Group: "certificates.k8s.io", Version: "v1"},
	{Group: "networking.k8s.io", Version: "v1"},
	{Group: "policy", Version: "v1"},
	{Group: "rbac.authorization.k8s.io", Version: "v1"},
	{Group: "storage.k8s.io", Version: "v1"},
	{Group: "admissionregistration.k8s.io", Version: "v1"},
	{Group: "apiextensions.k8s.io", Version: "v1"},
	{Group: "scheduling.k8s.io", Version: "v1"},
	{Group: "coordination.k8s.io", Version: "v1"},
	{Group: "node.k8s.io", Version: "v1"},
	{Group: "discovery.k8s.io", Version: "v1"},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1"},
	{Group: "resource.k8s.io", Version: "v1"},
}

type openAPI struct {
	Ref         string              `json:"$ref"`
	AllOf       []openAPI           `json:"allOf"`
	Description string              `json:"description"`
	Default     json.RawMessage     `json:"default"`
	Enum        []string            `json:"enum"`
	Required    []string            `json:"required"`
	Properties  map[string]*openAPI `json:"properties"`
	Items       *openAPI            `json:"items"`
	PatchKey    string              `json:"x-kubernetes-patch-merge-key"`
	Patch       string              `json:"x-kubernetes-patch-strategy"`
	ListType    string              `json:"x-kubernetes-list-type"`
	ListKeys    []string            `json:"x-kubernetes-list-map-keys"`
	MapType     string              `json:"x-kubernetes-map-type"`
}

type gvk struct{ Group, Version, Kind string }

type subresource struct {
	Subresource  string
	ResponseKind gvk
	Verbs        []string
}

type resourceInfo struct {
	Resource, Scope, SingularResource string
	ResponseKind                      gvk
	ShortNames, Categories, Verbs     []string
	Subresources                      []subresource
}

type versionInfo struct {
	Version   string
	Resources []resourceInfo
}

type groupInfo struct {
	Metadata struct{ Name string }
	Versions []versionInfo
}

type discovery struct{ Items []groupInfo }

type typeRow struct {
	name, doc      string
	kind, list     string
	flags          []string
	first, n, elem int
	keys           []string
	comment        string
}

type fieldRow struct {
	name, doc, smpKey, dflt string
	typ, number             int
	flags                   []string
}

type generator struct {
	root    string
	schemas map[string]*openAPI
	scheme  *runtime.Scheme
	types   []typeRow
	fields  []fieldRow
	byKey   map[string]int
	text    strings.Builder
	offsets map[string]int
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func moduleDir() string {
	out, err := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes@"+kubernetesVersion).Output()
	check(err)
	var m struct{ Dir string }
	check(json.Unmarshal(out, &m))
	return m.Dir
}

func readJSON(path string, into any) {
	b, err := os.ReadFile(path)
	check(err)
	check(json.Unmarshal(b, into))
}

func (g *generator) loadSchemas() {
	g.schemas = map[string]*openAPI{}
	for _, gv := range served {
		file := "api__v1_openapi.json"
		if gv.Group != "" {
			file = "apis__" + gv.Group + "__" + gv.Version + "_openapi.json"
		}
		var doc struct {
			Components struct{ Schemas map[string]*openAPI }
		}
		readJSON(filepath.Join(g.root, "api/openapi-spec/v3", file), &doc)
		for name, s := range doc.Components.Schemas {
			g.schemas[name] = s
		}
	}
}

// "k8s.io/api/apps/v1".Deployment is io.k8s.api.apps.v1.Deployment in OpenAPI.
func schemaName(t reflect.Type) string {
	return "io." + strings.ReplaceAll(strings.Replace(t.PkgPath(), "k8s.io", "k8s", 1), "/", ".") + "." + t.Name()
}

func (g *generator) offset(s string) int {
	if o, ok := g.offsets[s]; ok {
		return o
	}
	o := g.text.Len()
	g.offsets[s] = o
	g.text.WriteString(s)
	g.text.WriteByte(0)
	return o
}

func (g *generator) add(key string, row typeRow) int {
	g.byKey[key] = len(g.types)
	g.types = append(g.types, row)
	return len(g.types) - 1
}

// Types that JSON or protobuf treat in their own way.
var special = map[reflect.Type]string{
	reflect.TypeOf(metav1.Time{}):                                "TIME",
	reflect.TypeOf(metav1.MicroTime{}):                           "MICRO_TIME",
	reflect.TypeOf(metav1.Duration{}):                            "DURATION",
	reflect.TypeOf(metav1.FieldsV1{}):                            "FIELDS",
	reflect.TypeOf(runtime.RawExtension{}):                       "RAW",
	reflect.TypeOf(resource.Quantity{}):                          "QUANTITY",
	reflect.TypeOf(intstr.IntOrString{}):                         "INT_OR_STRING",
	reflect.TypeOf(apiextensions.JSON{}):                         "JSON",
	reflect.TypeOf(apiextensions.JSONSchemaPropsOrBool{}):        "SCHEMA_OR_BOOL",
	reflect.TypeOf(apiextensions.JSONSchemaPropsOrArray{}):       "SCHEMA_OR_ARRAY",
	reflect.TypeOf(apiextensions.JSONSchemaPropsOrStringArray{}): "SCHEMA_OR_STRINGS",
}

var scalars = map[reflect.Kind]string{
	reflect.String: "STRING", reflect.Bool: "BOOL", reflect.Int32: "INT32", reflect.Int64: "INT64",
	reflect.Float64: "DOUBLE",
}

// typeOf gives the row of a Go type; p is the OpenAPI property it was reached through (may be nil).
func (g *generator) typeOf(t reflect.Type, p *openAPI) int {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if kind, ok := special[t]; ok {
		return g.specialType(t, kind)
	}
	switch {
	case t.Kind() == reflect.Struct:
		return g.structType(t)
	case t.Kind() == reflect.Map:
		return g.mapType(t, p)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return g.scalarType("BYTES", nil)
	case t.Kind() == reflect.Slice:
		return g.listType(t, p)
	}
	name, ok := scalars[t.Kind()]
	if !ok {
		log.Fatalf("no row for %v", t)
	}
	return g.scalarType(name, p)
}

func (g *generator) scalarType(kind string, p *openAPI) int {
	var enum []string
	if p != nil && len(p.Enum) > 0 {
		enum = p.Enum
	}
	key := kind + "|" + strings.Join(enum, "|")
	if i, ok := g.byKey[key]; ok {
		return i
	}
	return g.add(key, typeRow{kind: kind, keys: enum})
}

func (g *generator) specialType(t reflect.Type, kind string) int {
	name := schemaName(t)
	if i, ok := g.byKey[name]; ok {
		return i
	}
	row := typeRow{kind: kind, name: name}
	if s := g.schemas[name]; s != nil {
		row.doc = s.Description
	}
	i := g.add(name, row)
	if strings.HasPrefix(kind, "SCHEMA_OR") {
		g.types[i].elem = g.typeOf(reflect.TypeOf(apiextensions.JSONSchemaProps{}), nil)
	}
	return i
}

func (g *generator) mapType(t reflect.Type, p *openAPI) int {
	var flags []string
	if p != nil && p.MapType == "atomic" {
		flags = append(flags, "API_TYPE_ATOMIC")
	}
	elem := g.typeOf(t.Elem(), nil)
	key := fmt.Sprintf("map %d %v", elem, flags)
	if i, ok := g.byKey[key]; ok {
		return i
	}
	return g.add(key, typeRow{kind: "MAP", elem: elem, flags: flags})
}

// generated.proto turns named slices into messages where map values or items need it.
func wrapped(t reflect.Type) bool {
	return t.Name() == "ExtraValue" || t.Name() == "Verbs"
}

func (g *generator) listType(t reflect.Type, p *openAPI) int {
	row := typeRow{kind: "LIST", list: "ATOMIC"}
	var items *openAPI
	if p != nil {
		items = p.Items
		switch p.ListType {
		case "set":
			row.list = "SET"
		case "map":
			row.list, row.keys = "MAP", p.ListKeys
		}
	}
	if wrapped(t) {
		row.flags = append(row.flags, "API_TYPE_WRAPPED")
	}
	row.elem = g.typeOf(t.Elem(), items)
	key := fmt.Sprintf("list %d %s %v %v", row.elem, row.list, row.keys, row.flags)
	if i, ok := g.byKey[key]; ok {
		return i
	}
	return g.add(key, row)
}

func (g *generator) structType(t reflect.Type) int {
	name := schemaName(t)
	if i, ok := g.byKey[name]; ok {
		return i
	}
	s := g.schemas[name]
	if s == nil {
		s = &openAPI{}
		log.Printf("no OpenAPI for %s", name)
	}
	row := typeRow{kind: "STRUCT", name: name, doc: s.Description, comment: t.Name()}
	if s.MapType == "atomic" {
		row.flags = append(row.flags, "API_TYPE_ATOMIC")
	}
	i := g.add(name, row)
	var rows []fieldRow
	g.collect(t, s, &rows)
	sort.Slice(rows, func(a, b int) bool { return rows[a].name < rows[b].name })
	g.types[i].first, g.types[i].n = len(g.fields), len(rows)
	g.fields = append(g.fields, rows...)
	return i
}

func (g *generator) collect(t reflect.Type, s *openAPI, rows *[]fieldRow) {
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		if f.PkgPath != "" || tag[0] == "-" {
			continue
		}
		if f.Anonymous && tag[0] == "" {
			g.inline(f, s, rows)
			continue
		}
		*rows = append(*rows, g.field(f, tag, s))
	}
}

// Embedded structs: their fields are in the JSON object, but protobuf knows TypeMeta not at all and other ones as one
// message. Such a message becomes a field whose name starts with a blank; the decoder merges it.
func (g *generator) inline(f reflect.StructField, s *openAPI, rows *[]fieldRow) {
	from := len(*rows)
	g.collect(f.Type, s, rows)
	for i := from; i < len(*rows); i++ {
		(*rows)[i].flags = append((*rows)[i].flags, "API_FIELD_NO_PROTO")
		(*rows)[i].number = 0
	}
	if number := protoNumber(f); number > 0 {
		*rows = append(*rows, fieldRow{name: " " + f.Name, typ: g.typeOf(f.Type, nil), number: number})
	}
}

func protoNumber(f reflect.StructField) int {
	tag := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(tag) < 2 {
		return 0
	}
	n, err := strconv.Atoi(tag[1])
	check(err)
	return n
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (g *generator) field(f reflect.StructField, tag []string, s *openAPI) fieldRow {
	p := s.Properties[tag[0]]
	row := fieldRow{name: tag[0], number: protoNumber(f)}
	if p == nil {
		p = &openAPI{}
	}
	row.doc = p.Description
	row.typ = g.typeOf(f.Type, p)
	row.smpKey = f.Tag.Get("patchMergeKey")
	if len(p.Default) > 0 {
		row.dflt = string(p.Default)
	}
	flag := func(on bool, name string) {
		if on {
			row.flags = append(row.flags, "API_FIELD_"+name)
		}
	}
	patch := strings.Split(f.Tag.Get("patchStrategy"), ",")
	structured := g.types[row.typ].kind == "STRUCT"
	flag(has(tag[1:], "omitempty"), "OMITEMPTY")
	flag(has(tag[1:], "omitzero"), "OMITZERO")
	flag(f.Type.Kind() == reflect.Pointer, "POINTER")
	flag(has(s.Required, row.name), "REQUIRED")
	flag(has(patch, "merge"), "SMP_MERGE")
	flag(has(patch, "replace"), "SMP_REPLACE")
	flag(has(patch, "retainKeys"), "SMP_RETAIN")
	flag(structured && p.MapType == "atomic", "ATOMIC")
	flag(structured && p.MapType == "granular", "GRANULAR")
	flag(row.number == 0, "NO_PROTO")
	return row
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "vectors" {
		(&generator{}).vectors(os.Args[2])
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "patches" {
		patches(os.Args[2])
		return
	}
	if len(os.Args) != 2 {
		log.Fatal("usage: kinds <directory> | kinds vectors|patches <file>")
	}
	g := &generator{root: moduleDir(), byKey: map[string]int{}, offsets: map[string]int{}}
	g.scheme = runtime.NewScheme()
	check(clientscheme.AddToScheme(g.scheme))
	check(apiextensions.AddToScheme(g.scheme))
	check(apiregistration.AddToScheme(g.scheme))
	g.offset("")
	g.loadSchemas()
	g.loadEnums()
	g.add("ANY", typeRow{kind: "ANY"})
	g.write(os.Args[1])
}
