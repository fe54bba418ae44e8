// SPDX-License-Identifier: Apache-2.0

// statusoracle writes what the readiness rules that Helm uses answer to the objects in a file: each line that is an
// object is repeated, with the status and the message behind it. Lines that are not objects are dropped.
//
//	go run . ../../data/kube/kstatus.txt
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func main() {
	b, _ := os.ReadFile(os.Args[1])
	for _, line := range strings.Split(string(b), "\n") {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(line)); err != nil {
			panic(line + err.Error())
		}
		r, err := status.Compute(u)
		if err != nil {
			fmt.Printf("%s\nUnknown %s\n", line, err)
			continue
		}
		fmt.Printf("%s\n%s %s\n", line, r.Status, r.Message)
	}
}
