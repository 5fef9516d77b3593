package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"podd/internal/clients/cells"
	"podd/internal/clients/top"
	"podd/pkg/client"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// podLister is list -w: a row for each pod, and one more whenever it changes.
type podLister struct {
	*program
	fleet *top.Fleet
	// rows are what was shown of the pods last, by their ids.
	rows   map[string]podRow
	headed bool
	widths [len(podColumns) - 1]int
}

// watchPods lists the pods, and then each change, until ctx ends.
func (p *program) watchPods(ctx context.Context, c *client.Client) error {
	defer endWithReader(p.stdout)()
	w := &podLister{program: p, fleet: top.NewFleet(), rows: make(map[string]podRow)}
	lost := func(err error) {
		w.fleet.Lost()
		p.lost(err)
	}
	for m, err := range c.Watch(ctx, &poddv1.WatchRequest{}, lost) {
		if err != nil {
			return err
		}
		if w.fleet.Take(m); !w.fleet.Complete() {
			continue
		}
		if err := w.update(); err != nil {
			return err
		}
	}
	return nil
}

// update prints the pods that are gone, and those that look different.
func (w *podLister) update() error {
	pods := w.fleet.Pods()
	slices.SortFunc(pods, func(a, b *poddv1.WatchedPod) int { return cmp.Compare(a.GetPod().GetName(), b.GetPod().GetName()) })
	names, rows := make(map[string]string), make(map[string]podRow)
	for _, pod := range pods {
		names[pod.GetPod().GetId()] = pod.GetPod().GetName()
	}
	for _, pod := range pods {
		parent := pod.GetPod().GetSpec().GetParent()
		row := w.rowOf(wire.PodFromProto(pod.GetPod()), cmp.Or(names[parent], parent))
		rows[pod.GetPod().GetId()] = row
		w.widen(row)
	}
	before := w.rows
	w.rows = rows
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if _, ok := rows[id]; ok {
			continue
		}
		row := before[id]
		row[stateColumn] = "deleted"
		if err := w.show(row, &poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Removed{Removed: id}}); err != nil {
			return err
		}
	}
	for _, pod := range pods {
		id := pod.GetPod().GetId()
		if old, ok := before[id]; ok && old.sameAs(rows[id]) {
			continue
		}
		if err := w.show(rows[id], &poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Pod{Pod: pod}}); err != nil {
			return err
		}
	}
	return nil
}

func (w *podLister) widen(row podRow) {
	for i := range w.widths {
		w.widths[i] = max(w.widths[i], cells.Width(row[i]))
	}
}

// show prints a row, or the message that it is for.
func (w *podLister) show(row podRow, m *poddv1.WatchResponse) error {
	if w.output == outputJSON {
		return w.printJSON(m)
	}
	if !w.headed {
		w.headed = true
		w.widen(podColumns)
		if err := w.write(podColumns); err != nil {
			return err
		}
	}
	return w.write(row)
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
