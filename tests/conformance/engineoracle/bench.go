// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
)

const benchHelpers = `{{- define "b.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- define "b.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- define "b.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ include "b.name" . }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- end }}
`

const benchObjects = `{{- range $i := until (int .Values.n) }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "b.fullname" $ }}-{{ $i }}
  labels:
    {{- include "b.labels" $ | nindent 4 }}
spec:
  replicas: {{ $.Values.replicaCount | default 1 }}
  template:
    spec:
      containers:
        - name: {{ $.Chart.Name }}
          image: "{{ $.Values.image.repository }}:{{ $.Values.image.tag | default $.Chart.AppVersion }}"
          env:
          {{- range $.Values.env }}
            - name: {{ .name }}
              value: {{ .value | quote }}
          {{- end }}
          {{- with $.Values.resources }}
          resources:
            {{- toYaml . | nindent 12 }}
          {{- end }}
{{- end }}
`

const benchTpl = `{{ range $i := until (int .Values.n) }}
- {{ tpl (printf "{{ .Values.image.repository }}-%d: {{ .Release.Name | upper }}" $i) $ }}
{{- end }}
`

func benchCase(text string, n, rounds int) testCase {
	values := fmt.Sprintf(`{"n":%d,"image":{"repository":"nginx","tag":"1.2"},"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],
"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m"}}}`, n)
	return testCase{Values: json.RawMessage(values), Repeat: rounds,
		Files: map[string]string{"templates/_h.tpl": benchHelpers, "templates/t.yaml": text}}
}

// CPU time of one render here and in the other program, parsing included.
func bench(program string) {
	cmd := exec.Command(program)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	answers := bufio.NewReaderSize(out, 1<<20)
	measure := func(name, text string, n, rounds int) float64 {
		c := benchCase(text, n, rounds)
		line, err := json.Marshal(c)
		if err != nil {
			panic(err)
		}
		if _, err := in.Write(append(line, '\n')); err != nil {
			panic(err)
		}
		answer, err := answers.ReadBytes('\n')
		if err != nil {
			panic(err)
		}
		var theirs result
		if err := json.Unmarshal(answer, &theirs); err != nil {
			panic(err)
		}
		render(c)
		ours := normal(render(c))
		verdict := "same bytes"
		if !same(ours, theirs) {
			verdict = "DIFFERENT"
		}
		fmt.Printf("%-12s %6d  helm %10.3f ms  pintle %9.3f ms  ratio %6.1f  %s\n", name, n,
			float64(ours.Ns)/1e6, float64(theirs.Ns)/1e6, float64(ours.Ns)/float64(theirs.Ns), verdict)
		return float64(theirs.Ns)
	}
	measure("objects", benchObjects, 10, 20)
	measure("objects", benchObjects, 100, 10)
	measure("objects", benchObjects, 600, 5)
	first := measure("tpl calls", benchTpl, 250, 10)
	measure("tpl calls", benchTpl, 1000, 5)
	last := measure("tpl calls", benchTpl, 4000, 3)
	fmt.Printf("slope of tpl calls, 250 to 4000: %.3f\n", math.Log(last/first)/math.Log(16))
	in.Close()
	if err := cmd.Wait(); err != nil {
		panic(err)
	}
}
