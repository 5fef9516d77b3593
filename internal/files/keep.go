package files

import (
	"context"
	"slices"
	"time"

	"podd/pkg/item"
)

// Checkpoints are kept for keepTime while there is room, and those of the last keepTurns turns
// with changes for longer and always.
const (
	keepTime  = 30 * 24 * time.Hour
	keepTurns = 20 // with every checkpoint: one a turn would merge the changes of agent and person
)

// Collect frees the space of checkpoints that are not kept any more, and of deleted pods. If a
// log cannot be read, everything stays.
func (w *Files) Collect(ctx context.Context) error {
	if w.Stores == nil {
		return nil
	}
	since := w.Host.Now().Add(-time.Hour)
	pods, err := w.Host.Store.Pods(ctx)
	if err != nil {
		return err
	}
	trashed, err := w.Host.Store.TrashedPods(ctx)
	if err != nil {
		return err
	}
	for _, t := range trashed {
		pods = append(pods, t.Pod)
	}
	keep, always := make(map[string][]string), make(map[string][]string)
	for _, p := range pods {
		var all []item.Entry
		_, err := w.checkpoints(ctx, p, 0, func(e item.Entry) bool {
			if k, ok := e.Kind.(item.Checkpoint); ok && k.Commit != k.Parent {
				all = append(all, e)
			}
			return false
		})
		if err != nil {
			return err
		}
		now := w.Host.Now()
		add(keep, kept(all, now.Add(-keepTime)))
		add(always, kept(all, now))
	}
	need := make(map[string]Needed)
	for dir, commits := range keep {
		need[dir] = Needed{Commits: commits, Always: always[dir]}
	}
	if w.Checkouts != nil {
		applied, err := w.Checkouts.Applied()
		if err != nil {
			return err
		}
		for dir, commit := range applied {
			n := need[dir]
			need[dir] = Needed{Commits: slices.Concat(n.Commits, []string{commit}), Always: slices.Concat(n.Always, []string{commit})}
		}
	}
	return w.Stores.Collect(ctx, need, since)
}

// add adds commits by their directory.
func add(to map[string][]string, all []item.Checkpoint) {
	for _, k := range all {
		to[k.Dir] = append(to[k.Dir], k.Parent, k.Commit)
	}
}

// kept are the checkpoints of a log since a time, and those of the last turns.
func kept(all []item.Entry, since time.Time) (out []item.Checkpoint) {
	from, turns, last := 0, 0, int64(-1)
	for i, e := range slices.Backward(all) {
		if e.Turn != last {
			turns, last = turns+1, e.Turn
		}
		if turns > keepTurns && e.Time.Before(since) {
			from = i + 1
			break
		}
	}
	for _, e := range all[from:] {
		if k, ok := e.Kind.(item.Checkpoint); ok {
			out = append(out, k)
		}
	}
	return out
}
