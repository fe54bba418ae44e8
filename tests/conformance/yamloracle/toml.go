// SPDX-License-Identifier: Apache-2.0

package main

func (g gen) tomlText() []byte       { return nil }
func (g gen) tomlTree(depth int) any { return nil }
