package pod

import (
	"context"
	"iter"
	"math"
	"slices"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/wire"
)

// reader reads a pod's log and decodes the wanted entries.
func (l *Logs) reader(ctx context.Context, pod string) fold.Reader {
	return func(after item.Seq, only fold.Selection) iter.Seq2[item.Entry, error] {
		return func(yield func(item.Entry, error) bool) {
			want := func(kind wire.KindNumber) bool { return selected(only, kind) }
			err := l.Entries(ctx, pod, after, want, func(e item.Entry) bool { return yield(e, nil) })
			if err != nil {
				yield(item.Entry{}, err)
			}
		}
	}
}

// selected says whether a selection wants a kind.
func selected(only fold.Selection, kind wire.KindNumber) bool {
	switch only {
	case fold.Items:
		return kind == wire.KindItem || kind == wire.KindCompaction
	case fold.Rewinds:
		return kind == wire.KindRewind
	case fold.Wings:
		return kind == wire.KindWing
	}
	return true
}

// replay is a pod's current log, and the fold with which replaying it starts: that of its
// base, if one exists that is not above at, otherwise an empty one.
func (l *Logs) replay(ctx context.Context, pod string, s *settings, at item.Seq) (*fold.Log, *fold.Fold, error) {
	kept, ok, err := l.store.Base(ctx, pod)
	if err != nil {
		return nil, nil, err
	}
	// Read the record second: it is newer than the base, and so shows whether the base is
	// still valid.
	rec, err := l.store.Pod(ctx, pod)
	if err != nil {
		return nil, nil, err
	}
	read := l.reader(ctx, rec.ID)
	if ok && kept.Seq <= at {
		f, err := s.folding.Restore(kept.Fold, read)
		if err == nil && f.First == rec.First {
			if log := fold.Open(read, f.Last, rec.Last); log.Reaches(f.Last) {
				return log, f, nil
			}
		}
		l.log.Debug("reading the whole log", "pod", pod, "error", err)
	}
	return fold.Open(read, 0, rec.Last), s.folding.New(), nil
}

// folded is the fold of a pod's log. base is the last entry of the base that it was made
// from, 0 without one.
func (l *Logs) folded(ctx context.Context, pod string, s *settings) (f *fold.Fold, base item.Seq, err error) {
	return l.foldedFrom(ctx, pod, s, math.MaxInt64)
}

// foldedFrom is folded with a base that is not above at, or without one.
func (l *Logs) foldedFrom(ctx context.Context, pod string, s *settings, at item.Seq) (f *fold.Fold, base item.Seq, err error) {
	log, f, err := l.replay(ctx, pod, s, at)
	if err != nil {
		return nil, 0, err
	}
	base = f.Last
	return f, base, log.Replay(f, math.MaxInt64, nil)
}

// cut is a place in a log at which its history may end.
type cut struct {
	fold *fold.Fold
	// files are those that tools changed above it, commands counts the shell commands that
	// ran there.
	files    []string
	commands int
	// notes are those that were left above it, taken counts the notes that turns above it
	// took.
	notes []item.Note
	taken int
}

// waiting are the notes above the place that no turn has taken. Turns take them in the
// order in which they were left, those below the place first.
func (c *cut) waiting() []item.Note {
	return c.notes[min(max(0, c.taken-len(c.fold.State.Notes)), len(c.notes)):]
}

// MayCut refuses a place to which the history of a pod cannot go.
func (l *Logs) MayCut(ctx context.Context, rec item.Pod, at item.Seq) error {
	_, err := l.cutAt(ctx, rec, at)
	return err
}

// cutAt examines the place at in a pod's log: 0 is its end. It refuses an undone place,
// and one that separates a call from its result, and names a valid place.
func (l *Logs) cutAt(ctx context.Context, rec item.Pod, at item.Seq) (*cut, error) {
	if at == 0 {
		at = rec.Last
	}
	if at < 1 || at > rec.Last {
		return nil, item.Errorf(item.KindOutOfRange, "BEYOND_END", "pod %s has no entry #%d: its last one is #%d", rec.Name, at, rec.Last)
	}
	if at < rec.First {
		return nil, item.Errorf(item.KindOutOfRange, "PURGED", "entry #%d of pod %s was removed: the first remaining entry is #%d", at, rec.Name, rec.First)
	}
	log, f, err := l.replay(ctx, rec.ID, l.settings(), at)
	if err != nil {
		return nil, err
	}
	// whole is the last place up to the wanted one that separates no call from its result.
	whole := f.Last
	err = log.Replay(f, at, func(e item.Entry) {
		if log.Counts(e.Seq) && len(f.Context.OpenCalls()) == 0 {
			whole = e.Seq
		}
	})
	switch {
	case err != nil:
		return nil, err
	case !log.Counts(at):
		return nil, item.Errorf(item.KindPrecondition, "TAKEN_BACK", "a rewind took back entry #%d of pod %s: name an entry that podctl show still lists", at, rec.Name)
	case whole != at:
		return nil, item.Errorf(item.KindPrecondition, "OPEN_CALL",
			"entry #%d of pod %s is between a tool call and its result: use #%d instead", at, rec.Name, whole)
	}
	c := &cut{fold: f}
	for e, err := range log.Entries(at, fold.All) {
		if err != nil {
			return nil, err
		}
		c.changed(e)
	}
	return c, nil
}

// changed records what the entries above the place did to files and notes.
func (c *cut) changed(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.Note:
		c.notes = append(c.notes, k)
	case item.ItemAdded:
		c.did(k.Item)
	}
}

func (c *cut) did(it item.Item) {
	switch it := it.(type) {
	case item.SystemMessage:
		if it.FromNote() {
			c.taken++
		}
	case item.ToolResult:
		switch {
		case it.Kind == item.OutputShell:
			c.commands++
		case it.Kind == item.OutputEdit && it.Path != "" && !slices.Contains(c.files, it.Path):
			c.files = append(c.files, it.Path)
		}
	}
}
