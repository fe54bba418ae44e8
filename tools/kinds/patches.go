// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// patches writes what apimachinery's strategicpatch makes of random objects and patches: a line each, {"doc", "patch",
// "want"} or {"doc", "patch", "error"}. All are Deployments: every strategy but "replace" is in them.
func patches(file string) {
	r := rand.New(rand.NewSource(1))
	var out bytes.Buffer
	n := 0
	for i := 0; i < 300; i++ {
		doc, patch := encode(randomDeployment(r)), encode(randomPatch(r))
		first := apply(doc, patch)
		stable := true
		for k := 0; k < 20; k++ { // of two faults Go tells one or the other
			stable = stable && bytes.Equal(first, apply(doc, patch))
		}
		if stable {
			out.Write(first)
			n++
		}
	}
	check(os.WriteFile(file, out.Bytes(), 0o644))
	log.Printf("%d patches", n)
}

func apply(doc, patch []byte) []byte {
	line := map[string]any{"doc": json.RawMessage(doc), "patch": json.RawMessage(patch)}
	want, err := strategicpatch.StrategicMergePatch(doc, patch, appsv1.Deployment{})
	if err != nil {
		line["error"] = err.Error()
	} else {
		line["want"] = json.RawMessage(want)
	}
	return append(encode(line), '\n')
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	check(err)
	return b
}

func pick(r *rand.Rand, from string) string {
	return string(from[r.Intn(len(from))])
}

func some(r *rand.Rand, n int, item func(name string) any) []any {
	list := []any{}
	for _, i := range r.Perm(5)[:r.Intn(n+1)] {
		list = append(list, item(string("abcde"[i])))
	}
	return list
}

func randomContainer(r *rand.Rand, name string, patch bool) map[string]any {
	c := map[string]any{"name": name, "image": pick(r, "ij")}
	if r.Intn(2) == 0 {
		c["env"] = some(r, 3, func(n string) any { return item(r, map[string]any{"name": n, "value": pick(r, "12")}, patch) })
	}
	if r.Intn(2) == 0 {
		c["ports"] = some(r, 3, func(n string) any {
			return item(r, map[string]any{"containerPort": int(n[0]), "protocol": pick(r, "TU")}, patch)
		})
	}
	if r.Intn(3) == 0 {
		c["args"] = some(r, 3, func(n string) any { return n })
	}
	if patch && r.Intn(4) == 0 {
		c["image"] = nil
	}
	return c
}

// item may become a directive: mostly to delete, rarely something that is refused.
func item(r *rand.Rand, m map[string]any, patch bool) map[string]any {
	if !patch {
		return m
	}
	switch r.Intn(12) {
	case 0, 1:
		m["$patch"] = "delete"
	case 2:
		return map[string]any{"$patch": "replace"}
	case 3:
		if r.Intn(4) == 0 {
			delete(m, "name")
		}
	}
	return m
}

func randomMeta(r *rand.Rand) map[string]any {
	m := map[string]any{"name": "x"}
	if r.Intn(2) == 0 {
		m["labels"] = map[string]any{pick(r, "ab"): pick(r, "12"), pick(r, "cd"): pick(r, "12")}
	}
	if r.Intn(2) == 0 {
		m["finalizers"] = some(r, 4, func(n string) any { return n })
	}
	return m
}

func randomVolume(r *rand.Rand, name string) map[string]any {
	if r.Intn(2) == 0 {
		return map[string]any{"name": name, "emptyDir": map[string]any{"medium": pick(r, "MN")}}
	}
	return map[string]any{"name": name, "secret": map[string]any{"secretName": pick(r, "st")}}
}

func randomDeployment(r *rand.Rand) map[string]any {
	pod := map[string]any{"containers": some(r, 4, func(n string) any { return randomContainer(r, n, false) })}
	if r.Intn(2) == 0 {
		pod["volumes"] = some(r, 3, func(n string) any { return randomVolume(r, n) })
	}
	if r.Intn(3) == 0 {
		pod["tolerations"] = some(r, 2, func(n string) any { return map[string]any{"key": n} })
	}
	return map[string]any{"metadata": randomMeta(r), "spec": map[string]any{"replicas": r.Intn(3),
		"strategy": map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": 1}},
		"template": map[string]any{"spec": pod}}}
}

func orderOf(list []any, key string) []any {
	order := []any{}
	for _, v := range list {
		if m, ok := v.(map[string]any); ok && m["$patch"] == nil && m[key] != nil {
			order = append(order, map[string]any{key: m[key]})
		}
	}
	return order
}

func randomPatch(r *rand.Rand) map[string]any {
	meta, pod, spec := map[string]any{}, map[string]any{}, map[string]any{}
	if r.Intn(2) == 0 {
		meta["labels"] = map[string]any{pick(r, "ab"): nil, pick(r, "cd"): pick(r, "12")}
	}
	switch r.Intn(4) {
	case 0:
		meta["finalizers"] = some(r, 3, func(n string) any { return n })
	case 1:
		meta["$deleteFromPrimitiveList/finalizers"] = some(r, 3, func(n string) any { return n })
	case 2:
		meta["$setElementOrder/finalizers"] = some(r, 5, func(n string) any { return n })
	}
	if r.Intn(4) > 0 {
		list := some(r, 4, func(n string) any { return item(r, randomContainer(r, n, true), true) })
		pod["containers"] = list
		if r.Intn(2) == 0 {
			order := orderOf(list, "name")
			for _, n := range "abcde"[:r.Intn(5)] {
				order = append(order, map[string]any{"name": string(n)})
			}
			pod["$setElementOrder/containers"] = order
		}
	}
	if r.Intn(2) == 0 {
		pod["volumes"] = some(r, 3, func(n string) any {
			v := randomVolume(r, n)
			if r.Intn(2) == 0 {
				keys := []any{"name"}
				for k := range v {
					if k != "name" {
						keys = append(keys, k)
					}
				}
				v["$retainKeys"] = keys
			}
			return v
		})
	}
	if r.Intn(3) == 0 {
		pod["tolerations"] = some(r, 2, func(n string) any { return map[string]any{"key": n} })
	}
	switch r.Intn(5) {
	case 0:
		spec["strategy"] = map[string]any{"$retainKeys": []any{"type"}, "type": "Recreate"}
	case 1:
		spec["strategy"] = map[string]any{"$patch": "replace", "type": "Recreate"}
	case 2:
		spec["strategy"] = map[string]any{"$patch": "delete"}
	case 3:
		spec["strategy"] = map[string]any{"$retainKeys": []any{"type"}, "type": "Recreate", "rollingUpdate": nil}
	}
	if r.Intn(3) == 0 {
		spec["replicas"] = nil
	}
	spec["template"] = map[string]any{"spec": pod}
	if len(meta) == 0 {
		return map[string]any{"spec": spec}
	}
	return map[string]any{"metadata": meta, "spec": spec, fmt.Sprintf("x%d", r.Intn(2)): nil}
}
