package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"podd/internal/clients/cells"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// podLister is list -w: a row for each pod, and one more whenever it changes.
type podLister struct {
	*program
	// pods are those of podd by their ids, rows what was shown of them last.
	pods map[string]*poddv1.WatchedPod
	rows map[string]podRow
	// seen are the pods that podd sent since the stream began; nil once it is complete.
	seen   map[string]bool
	headed bool
	widths [len(podColumns) - 1]int
}

// watchPods lists the pods, and then each change, until ctx ends.
func (p *program) watchPods(ctx context.Context, c *client.Client) error {
	defer endWithReader(p.stdout)()
	w := &podLister{program: p, pods: make(map[string]*poddv1.WatchedPod), rows: make(map[string]podRow), seen: make(map[string]bool)}
	lost := func(err error) {
		w.seen = make(map[string]bool)
		fmt.Fprintf(p.stderr, "(lost the connection to podd; retrying: %s)\n", sanitize.Line(err.Error()))
	}
	for m, err := range c.Watch(ctx, &poddv1.WatchRequest{}, lost) {
		if err == nil {
			err = w.take(m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *podLister) take(m *poddv1.WatchResponse) error {
	switch k := m.GetKind().(type) {
	case *poddv1.WatchResponse_Pod:
		id := k.Pod.GetPod().GetId()
		w.pods[id] = k.Pod
		if w.seen == nil {
			return w.show(id)
		}
		w.seen[id] = true
	case *poddv1.WatchResponse_Removed:
		return w.remove(k.Removed)
	case *poddv1.WatchResponse_Complete:
		return w.complete()
	}
	return nil
}

// complete shows what is new when podd has sent all pods.
func (w *podLister) complete() error {
	for _, id := range slices.Sorted(maps.Keys(w.pods)) {
		if !w.seen[id] {
			if err := w.remove(id); err != nil {
				return err
			}
		}
	}
	w.seen = nil
	ids := slices.SortedFunc(maps.Keys(w.pods), func(a, b string) int {
		return cmp.Compare(w.pods[a].GetPod().GetName(), w.pods[b].GetPod().GetName())
	})
	for i, cell := range podColumns[:len(w.widths)] {
		w.widths[i] = len(cell)
	}
	for _, id := range ids {
		w.widen(w.row(id))
	}
	for _, id := range ids {
		if err := w.show(id); err != nil {
			return err
		}
	}
	return nil
}

func (w *podLister) row(id string) podRow {
	pod := w.pods[id]
	parent := pod.GetPod().GetSpec().GetParent()
	name := cmp.Or(w.pods[parent].GetPod().GetName(), parent)
	return w.rowOf(wire.PodFromProto(pod.GetPod()), name)
}

// show prints a pod unless it looks as before.
func (w *podLister) show(id string) error {
	row := w.row(id)
	if before, ok := w.rows[id]; ok && before.sameAs(row) {
		return nil
	}
	w.rows[id] = row
	if w.output == outputJSON {
		return w.printJSON(&poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Pod{Pod: w.pods[id]}})
	}
	if !w.headed {
		w.headed = true
		if err := w.write(podColumns); err != nil {
			return err
		}
	}
	return w.write(row)
}

// remove prints that a pod is gone.
func (w *podLister) remove(id string) error {
	row, ok := w.rows[id]
	delete(w.pods, id)
	delete(w.rows, id)
	if !ok {
		return nil
	}
	if w.output == outputJSON {
		return w.printJSON(&poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Removed{Removed: id}})
	}
	row[stateColumn] = "deleted"
	return w.write(row)
}

func (w *podLister) widen(row podRow) {
	for i := range w.widths {
		w.widths[i] = max(w.widths[i], cells.Width(row[i]))
	}
}

// write prints a row below the others.
func (w *podLister) write(row podRow) error {
	w.widen(row)
	var line strings.Builder
	for i, width := range w.widths {
		line.WriteString(row[i] + strings.Repeat(" ", width-cells.Width(row[i])+2))
	}
	_, err := fmt.Fprintln(w.stdout, line.String()+row[len(w.widths)])
	return err
}
