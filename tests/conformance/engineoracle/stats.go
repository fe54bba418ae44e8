// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
	_ "unsafe" // for go:linkname
)

//go:linkname engineFuncMap helm.sh/helm/v4/pkg/engine.funcMap
func engineFuncMap() template.FuncMap

var builtins = strings.Fields("and or not eq ne lt le gt ge index len print printf println html js urlquery call")

var nodeKinds = strings.Fields("Text Comment Action If With Range Else Template Define Break Continue Declaration Assignment " +
	"Pipe Command Parentheses Field Chain Variable Identifier Dot Nil Bool Number Char Complex String RawString")

// What random templates are made of. Of 100,000 each function and each kind of node is to occur 100 times.
type stats struct {
	cases, rendered int
	actions         []int // of each template
	functions       map[string]int
	nodes           map[string]int
}

func (s *stats) add(c testCase, rendered bool) {
	if s.functions == nil {
		s.functions, s.nodes = map[string]int{}, map[string]int{}
	}
	s.cases++
	if rendered {
		s.rendered++
	}
	actions := 0
	for _, name := range []string{"templates/t.yaml", "templates/_h.tpl"} {
		t := parse.New(name)
		t.Mode = parse.SkipFuncCheck | parse.ParseComments
		set := map[string]*parse.Tree{}
		if _, err := t.Parse(c.Files[name], "", "", set); err != nil {
			continue
		}
		s.nodes["Define"] += len(set) - 1
		for _, tree := range set {
			if tree.Root != nil {
				actions += s.list(tree.Root)
			}
		}
	}
	s.actions = append(s.actions, actions)
}

func (s *stats) list(l *parse.ListNode) (actions int) {
	if l == nil {
		return 0
	}
	for _, n := range l.Nodes {
		actions++
		switch n := n.(type) {
		case *parse.TextNode:
			actions--
			s.nodes["Text"]++
		case *parse.CommentNode:
			actions--
			s.nodes["Comment"]++
		case *parse.ActionNode:
			s.nodes["Action"]++
			s.pipe(n.Pipe)
		case *parse.IfNode:
			actions += s.branch("If", &n.BranchNode)
		case *parse.WithNode:
			actions += s.branch("With", &n.BranchNode)
		case *parse.RangeNode:
			actions += s.branch("Range", &n.BranchNode)
		case *parse.TemplateNode:
			s.nodes["Template"]++
			s.pipe(n.Pipe)
		case *parse.BreakNode:
			s.nodes["Break"]++
		case *parse.ContinueNode:
			s.nodes["Continue"]++
		}
	}
	return actions
}

func (s *stats) branch(kind string, b *parse.BranchNode) int {
	s.nodes[kind]++
	if b.ElseList != nil {
		s.nodes["Else"]++
	}
	s.pipe(b.Pipe)
	return s.list(b.List) + s.list(b.ElseList)
}

func (s *stats) pipe(p *parse.PipeNode) {
	if p == nil {
		return
	}
	s.nodes["Pipe"]++
	if len(p.Decl) > 0 && p.IsAssign {
		s.nodes["Assignment"]++
	} else if len(p.Decl) > 0 {
		s.nodes["Declaration"]++
	}
	for _, c := range p.Cmds {
		s.nodes["Command"]++
		for _, a := range c.Args {
			s.operand(a)
		}
	}
}

func (s *stats) operand(n parse.Node) {
	switch n := n.(type) {
	case *parse.PipeNode:
		s.nodes["Parentheses"]++
		s.pipe(n)
	case *parse.ChainNode:
		s.nodes["Chain"]++
		s.operand(n.Node)
	case *parse.IdentifierNode:
		s.nodes["Identifier"]++
		s.functions[n.Ident]++
	case *parse.FieldNode:
		s.nodes["Field"]++
	case *parse.VariableNode:
		s.nodes["Variable"]++
	case *parse.DotNode:
		s.nodes["Dot"]++
	case *parse.NilNode:
		s.nodes["Nil"]++
	case *parse.BoolNode:
		s.nodes["Bool"]++
	case *parse.StringNode:
		s.nodes[map[bool]string{true: "RawString", false: "String"}[n.Quoted[0] == '`']]++
	case *parse.NumberNode:
		kind := "Number"
		if n.IsComplex {
			kind = "Complex"
		} else if n.Text[0] == '\'' {
			kind = "Char"
		}
		s.nodes[kind]++
	}
}

// Prints the figures; false when they are not what is asked for.
func (s *stats) report() bool {
	names := slices.Clone(builtins)
	for name := range engineFuncMap() {
		names = append(names, name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var rare []string
	look := func(names []string, counts map[string]int) (least int) {
		least = counts[names[0]]
		for _, name := range names {
			least = min(least, counts[name])
			if counts[name]*1000 < s.cases { // 100 of 100,000
				rare = append(rare, fmt.Sprintf("%s %d", name, counts[name]))
			}
		}
		return least
	}
	leastFunction, leastNode := look(names, s.functions), look(nodeKinds, s.nodes)
	slices.Sort(s.actions)
	median, share := s.actions[len(s.actions)/2], 100*s.rendered/s.cases
	fmt.Printf("%d functions at least %d times each, %d kinds of nodes at least %d times each; median %d actions; %d %% render\n",
		len(names), leastFunction, len(nodeKinds), leastNode, median, share)
	if len(rare) > 0 {
		fmt.Printf("FAIL too rare: %s\n", strings.Join(rare, ", "))
	}
	return len(rare) == 0 && median >= 10 && share >= 30
}
