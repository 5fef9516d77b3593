package top

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"podd/internal/clients/show"
	poddv1 "podd/proto/podd/v1"
)

// Tree is the pod with the id top and those below it, or all pods if that is empty: each before its sub-pods, which are
// ordered by name; and how deep each is.
func Tree(pods []*poddv1.WatchedPod, top string) (ordered []*poddv1.WatchedPod, depths []int) {
	below, known := make(map[string][]*poddv1.WatchedPod), make(map[string]bool)
	for _, p := range pods {
		known[p.GetPod().GetId()] = true
	}
	var roots []*poddv1.WatchedPod
	for _, p := range slices.SortedFunc(slices.Values(pods), byName) {
		parent := p.GetPod().GetSpec().GetParent()
		below[parent] = append(below[parent], p)
		if p.GetPod().GetId() == top || top == "" && !known[parent] {
			roots = append(roots, p)
		}
	}
	var add func(p *poddv1.WatchedPod, depth int)
	add = func(p *poddv1.WatchedPod, depth int) {
		ordered, depths = append(ordered, p), append(depths, depth)
		children := below[p.GetPod().GetId()]
		delete(below, p.GetPod().GetId()) // A podd could say that pods are below each other.
		for _, child := range children {
			add(child, depth+1)
		}
	}
	for _, p := range roots {
		add(p, 0)
	}
	return ordered, depths
}

func byName(a, b *poddv1.WatchedPod) int {
	return strings.Compare(a.GetPod().GetName(), b.GetPod().GetName())
}

// WriteTree writes the pods of a tree: the state of each, its step and cost, and what it waits for.
func WriteTree(w io.Writer, pods []*poddv1.WatchedPod, depths []int, now time.Time) error {
	lines := [][]string{{"NAME", "STATE", "TURN", "STEP", "COST", "LETTERS", "WAITS-FOR"}}
	for i, p := range pods {
		r, step := rowOf(p, now), "-"
		if n := p.GetWork().GetStep(); n > 0 {
			step = fmt.Sprint(n)
		}
		name := strings.Repeat("  ", depths[i]) + r.cells[nameColumn]
		if p.GetPod().GetSpec().GetParent() != "" && p.GetPod().GetSpec().GetParentCall() == "" {
			name += " (background)"
		}
		lines = append(lines, []string{name, r.cells[stateColumn], r.cells[turnColumn], step, r.cells[costColumn], r.cells[lettersColumn], r.cells[waitsColumn]})
	}
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			line[i] = show.Safe(cell, show.Style{}).Text()
			widths[i] = max(widths[i], len([]rune(line[i])))
		}
	}
	for _, line := range lines {
		var text strings.Builder
		for i, cell := range line {
			fmt.Fprintf(&text, "%-*s  ", widths[i], cell)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(text.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
