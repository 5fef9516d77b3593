package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/cells"
	"podd/internal/clients/top"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// listOptions are the flags of list.
type listOptions struct{ trash, watch bool }

func (o *listOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "list",
		Aliases:    []string{"ps"},
		SuggestFor: []string{"ls"},
		Short:      "List pods",
		RunE:       p.onPodd(o.run),
	}
	cmd.Flags().BoolVar(&o.trash, "trash", false, "list the deleted pods that podctl restore brings back")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "keep running and print a line for each change")
	return cmd
}

func (o *listOptions) run(ctx context.Context, s *session, _ []string) error {
	switch {
	case o.trash && o.watch:
		return usagef("--watch and --trash cannot be used together")
	case o.watch:
		return watchPods(ctx, s)
	case o.trash:
		return listTrash(ctx, s)
	}
	resp, err := s.Pods().ListPods(ctx, &poddv1.ListPodsRequest{})
	if err != nil {
		return err
	}
	names := make(map[string]string, len(resp.GetPods()))
	for _, pod := range resp.GetPods() {
		names[pod.GetId()] = pod.GetName()
	}
	return list(s.program, resp.GetPods(), noPods, strings.Join(podColumns[:], "\t"), func(message *poddv1.Pod) (cells []any) {
		pod := wire.PodFromProto(message)
		for _, cell := range rowOf(pod, cmp.Or(names[pod.Spec.Parent], pod.Spec.Parent), s.now()) {
			cells = append(cells, cell)
		}
		return cells
	})
}

// listTrash lists the deleted pods.
func listTrash(ctx context.Context, s *session) error {
	resp, err := s.Pods().ListTrash(ctx, &poddv1.ListTrashRequest{})
	if err != nil {
		return err
	}
	return list(s.program, resp.GetPods(), "the trash is empty", "NAME\tID\tTURN\tDELETED\tKEPT UNTIL\tDIR", func(t *poddv1.TrashedPod) []any {
		pod, ago := t.GetPod(), view.Duration(s.now().Sub(t.GetDeletedAt().AsTime()))+" ago"
		return []any{pod.GetName(), pod.GetId(), pod.GetTurn(), ago, stamp(t.GetPurgeAt().AsTime()), pod.GetSpec().GetDir()}
	})
}

const noPods = "no pods yet; create one with podctl create NAME"

// podRow is a pod in a table, made safe.
type podRow [6]string

var podColumns = podRow{"NAME", "STATE", "TURN", "TOKENS (IN/OUT)", "LAST ACTIVITY", "DIR"}

// The columns that list -w knows.
const (
	stateColumn    = 1
	activityColumn = 4
)

// sameAs says whether a person would miss nothing of other; the last activity alone is
// nothing.
func (r podRow) sameAs(other podRow) bool {
	r[activityColumn] = other[activityColumn]
	return r == other
}

// rowOf shows a pod; parent is the name of the pod that spawned it.
func rowOf(pod item.Pod, parent string, now time.Time) podRow {
	state := podState(pod, now)
	if parent != "" {
		state += ", " + spawned(pod.Spec) + " " + sanitize.Line(parent)
	}
	dir := sanitize.Line(pod.Spec.Dir)
	if of := pod.Spec.Checkout; of.Source != "" {
		dir = fmt.Sprintf("%s (checkout, branch %s)", sanitize.Line(of.Source), sanitize.Line(of.Branch))
	}
	if pod.Node != "" {
		dir = sanitize.Line(pod.Node) + ":" + dir
	}
	return podRow{
		sanitize.Line(pod.Name), state, strconv.FormatInt(pod.Status.Turn, 10),
		view.Count(pod.Status.Usage.Input) + "/" + view.Count(pod.Status.Usage.Output),
		view.Duration(now.Sub(pod.Status.LastActivity)) + " ago", dir,
	}
}

// spawned says, before the name of its parent, whether a call waits for a sub-pod.
func spawned(spec item.PodSpec) string {
	if spec.ParentCall == "" {
		return "in the background of"
	}
	return "spawned by"
}

// podState names a pod's state, with a last turn that a person should look at, its pending pause, wait, approvals, letters, jobs and queue.
func podState(pod item.Pod, now time.Time) string {
	var notes []string
	if pod.Status.Pause != nil && pod.Status.State != item.StatePaused {
		notes = append(notes, "pausing")
	}
	if pod.Status.Stopped() {
		notes = append(notes, map[item.Outcome]string{item.OutcomeFailed: "last turn failed", item.OutcomeLimit: "last turn stopped by a limit"}[pod.Status.LastOutcome])
	}
	if pod.Status.CheckFailed && pod.Status.State == item.StateIdle {
		notes = append(notes, "check failed")
	}
	if at := pod.Status.WaitUntil; !at.IsZero() {
		notes = append(notes, "until "+clock(at, now))
	}
	if n := pod.Status.Approvals - pod.Status.Questions; n > 0 {
		notes = append(notes, plural(n, "approval"))
	}
	if pod.Status.Questions > 0 {
		notes = append(notes, plural(pod.Status.Questions, "question"))
	}
	if pod.Status.Letters > 0 {
		notes = append(notes, plural(pod.Status.Letters, "letter"))
	}
	if pod.Status.Jobs > 0 {
		notes = append(notes, plural(pod.Status.Jobs, "job"))
	}
	if pod.Queued > 0 {
		notes = append(notes, fmt.Sprintf("%d queued", pod.Queued))
	}
	if len(notes) == 0 {
		return stateName(pod)
	}
	return fmt.Sprintf("%s (%s)", stateName(pod), strings.Join(notes, ", "))
}

// stateName is the state in a word; asks is the wait for a person.
func stateName(pod item.Pod) string {
	switch {
	case pod.Status.State == "":
		return "unknown"
	case pod.Status.State == item.StateWaiting && pod.Status.Approvals > 0:
		return "asks"
	}
	return string(pod.Status.State)
}

// clock is the time of day, with the date unless it is today.
func clock(t, now time.Time) string {
	if day := time.DateOnly; t.Local().Format(day) == now.Local().Format(day) {
		return t.Local().Format(time.TimeOnly)
	}
	return stamp(t)
}

// plural is "1 approval" or "2 approvals", "2 passes".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return view.Count(int64(n)) + " " + what + when(strings.HasSuffix(what, "s"), "e") + "s"
}

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
func watchPods(ctx context.Context, s *session) error {
	defer endWithReader(s.stdout)()
	w := &podLister{program: s.program, fleet: top.NewFleet(), rows: make(map[string]podRow)}
	lost := func(err error) {
		w.fleet.Lost()
		s.lost(err)
	}
	for m, err := range s.Watch(ctx, &poddv1.WatchRequest{}, lost) {
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
		row := rowOf(wire.PodFromProto(pod.GetPod()), cmp.Or(names[parent], parent), w.now())
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
