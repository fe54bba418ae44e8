// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The JSON forms of schemas that protobuf writes in another way.
const crd = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"a.b.c"},
"spec":{"group":"b.c","scope":"Cluster","names":{"kind":"A","plural":"a"},"versions":[{"name":"v1","served":true,
"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"x":{"type":"array","items":{"type":"string",
"maxLength":0,"enum":["a","b"],"default":"a"}},"y":{"type":"array","items":[{"type":"integer","maximum":1.5},{}]},
"z":{"additionalProperties":true},"w":{"additionalProperties":{"type":"number"},"x-kubernetes-preserve-unknown-fields":true},
"u":{"additionalProperties":false,"default":{"k":[1,null,{"n":1.25}]}},
"d":{"dependencies":{"p":{"type":"object"},"q":["r","s"]},"not":{"type":"string"}}}}}}]},
"status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":null}}`

func crdVector() string {
	var c apiextensions.CustomResourceDefinition
	check(json.Unmarshal([]byte(crd), &c))
	raw, err := c.Marshal()
	check(err)
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: c.APIVersion, Kind: c.Kind}, Raw: raw}
	envelope, err := u.Marshal()
	check(err)
	var plain map[string]any
	check(json.Unmarshal([]byte(crd), &plain))
	status := plain["status"].(map[string]any)
	delete(status, "conditions")
	delete(status, "storedVersions")
	text, err := json.Marshal(plain)
	check(err)
	return base64.StdEncoding.EncodeToString(append([]byte("k8s\x00"), envelope...)) + " " + string(text) + "\n"
}

// Kinds whose vectors repeat a whole pod template that other vectors have.
var repetitive = map[string]bool{"DaemonSet": true, "ReplicaSet": true, "StatefulSet": true, "CronJob": true,
	"ReplicationController": true, "PodTemplate": true}

// vectors writes the round trip vectors of k8s.io/api for the served kinds: a line each, "base64(protobuf) JSON".
func (g *generator) vectors(file string) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	check(err)
	dir := filepath.Join(strings.TrimSpace(string(out)), "testdata", "HEAD")
	var text bytes.Buffer
	for _, gv := range served {
		group := gv.Group
		if group == "" {
			group = "core"
		}
		names, err := filepath.Glob(filepath.Join(dir, group+"."+gv.Version+".*.json"))
		check(err)
		for _, name := range names {
			part := strings.Split(filepath.Base(name), ".")
			if kind := part[len(part)-2]; repetitive[kind] || strings.HasSuffix(kind, "Options") ||
				strings.HasPrefix(kind, "API") || kind == "Status" || kind == "WatchEvent" || kind == "RangeAllocation" ||
				strings.HasSuffix(kind, "List") || kind == "PodStatusResult" || kind == "SerializedReference" {
				continue
			}
			proto, err := os.ReadFile(strings.TrimSuffix(name, ".json") + ".pb")
			check(err)
			plain, err := os.ReadFile(name)
			check(err)
			text.WriteString(base64.StdEncoding.EncodeToString(proto) + " ")
			check(json.Compact(&text, plain))
			text.WriteByte('\n')
		}
	}
	text.WriteString(crdVector())
	check(os.WriteFile(file, text.Bytes(), 0o644))
	log.Printf("%d vectors", bytes.Count(text.Bytes(), []byte("\n")))
	fmt.Println(file)
}
