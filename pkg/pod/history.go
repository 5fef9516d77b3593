package pod

import (
	"context"
	"math"
	"slices"

	"podd/internal/wire"
	"podd/pkg/fold"
	"podd/pkg/item"
)

// rewound is a range of a log that a rewind took back: the entries above after and
// below at, which is the rewind's own.
type rewound struct{ after, at item.Seq }

// takenBack are the ranges of a log that rewinds took back, given its rewinds in their
// order. A rewind that was itself taken back counts for nothing.
func takenBack(rewinds []rewound) []rewound {
	var out []rewound
	for _, r := range slices.Backward(rewinds) {
		if len(out) == 0 || r.at <= out[len(out)-1].after {
			out = append(out, r)
		}
	}
	return out
}

func inAny(ranges []rewound, seq item.Seq) bool {
	return slices.ContainsFunc(ranges, func(r rewound) bool { return r.after < seq && seq < r.at })
}

// history reads a pod's log. begin is given what it folds into, which may know the log up to
// an entry that is not above at, and says what is done with those that follow, all in order:
// live gets those that count, gone those that a rewind took back. Most logs have no rewind,
// so it is read as if there were none; when there is one, it is begun anew, and ends where it
// ended then. Who is not in the pod's goroutine may begin before where it began then, because
// a rewind has removed the base: the rewinds that are known are too few for that.
func (h *Host) history(ctx context.Context, pod string, s *settings, at item.Seq, begin func(*folds) (live, gone func(item.Entry))) error {
	f, err := h.start(ctx, pod, s, at)
	if err != nil {
		return err
	}
	live, _ := begin(f)
	from := f.last
	rewinds, last, err := h.readToRewind(ctx, pod, from, live)
	if err != nil || len(rewinds) == 0 {
		return err
	}
	if f, err = h.start(ctx, pod, s, min(at, last)); err != nil {
		return err
	}
	if f.last < from {
		return h.history(ctx, pod, s, at, begin)
	}
	live, gone := begin(f)
	ranges := takenBack(rewinds)
	return h.readAll(ctx, pod, f.last, func(e item.Entry) {
		switch {
		case e.Seq > last:
		case inAny(ranges, e.Seq):
			gone(e)
		default:
			live(e)
		}
	})
}

// readToRewind gives the entries of a log above after and up to the first rewind to fn, and
// finds all rewinds. last is where the log ended.
func (h *Host) readToRewind(ctx context.Context, pod string, after item.Seq, fn func(item.Entry)) (rewinds []rewound, last item.Seq, err error) {
	err = h.readRecords(ctx, pod, after, func(seq item.Seq, body []byte) error {
		last = seq
		if len(rewinds) > 0 && wire.KindOf(body) != wire.KindRewind {
			return nil
		}
		e, err := wire.DecodeEntry(body)
		if err != nil {
			return damaged(pod, seq, err)
		}
		if k, ok := e.Kind.(item.Rewind); ok {
			rewinds = append(rewinds, rewound{k.To, seq})
		} else if len(rewinds) == 0 {
			fn(e)
		}
		return nil
	})
	return rewinds, last, err
}

// folded is the fold of a pod's log.
func (h *Host) folded(ctx context.Context, pod string, s *settings) (*folds, error) {
	return h.foldedFrom(ctx, pod, s, math.MaxInt64)
}

// foldedFrom is the fold of a pod's log that goes on from what is known of it up to an
// entry that is not above at.
func (h *Host) foldedFrom(ctx context.Context, pod string, s *settings, at item.Seq) (out *folds, err error) {
	err = h.history(ctx, pod, s, at, func(f *folds) (live, gone func(item.Entry)) {
		out = f
		return f.add, f.skip
	})
	return out, err
}

// folds are what a loaded pod knows of its log.
type folds struct {
	state   fold.State
	context *fold.Context
	// first is the log's first entry, last the one that they reach.
	first, last item.Seq
	// base is the last entry of the base that they began with; 0 without.
	base item.Seq
}

func (s *settings) newFolds() (*folds, error) {
	state, err := s.newContext()
	if err != nil {
		return nil, err
	}
	return &folds{state: fold.State{}.Priced(s.Prices), context: state}, nil
}

func (f *folds) add(e item.Entry) {
	f.state.Add(e)
	f.context.Add(e)
	f.last = e.Seq
}

// skip takes note of an entry that was taken back: it was paid for, and its numbers and
// ids are not used again.
func (f *folds) skip(e item.Entry) {
	f.state.Skip(e)
	f.context.Skip(e)
	f.last = e.Seq
}

// cut is a place in a log at which its history may end.
type cut struct {
	folds *folds
	// whole is the last place up to the wanted one that cuts no call from its result.
	whole item.Seq
	// files are those that tools changed above it, commands counts the shell commands
	// that ran there.
	files    []string
	commands int
	// notes are those that were left above it, taken counts the notes that turns above it
	// took in.
	notes []item.Note
	taken int
}

// waiting are the notes above the place that no turn has taken in. Turns take them in the
// order in which they were left, those below the place first.
func (c *cut) waiting() []item.Note {
	return c.notes[min(max(0, c.taken-len(c.folds.state.Notes)), len(c.notes)):]
}

// cutAt looks at the place at in a pod's log: 0 is its end. A place that does not count
// any more, or that cuts a call from its result, is refused with where it could be cut.
func (h *Host) cutAt(ctx context.Context, rec item.Pod, at item.Seq) (*cut, error) {
	if at == 0 {
		at = rec.Last
	}
	if at < 1 || at > rec.Last {
		return nil, item.Errorf(item.KindOutOfRange, "BEYOND_END", "pod %s has no entry #%d: its last one is #%d", rec.Name, at, rec.Last)
	}
	if at < rec.First {
		return nil, item.Errorf(item.KindOutOfRange, "PURGED", "entry #%d of pod %s was removed: the first that is left is #%d", at, rec.Name, rec.First)
	}
	var c *cut
	var counts bool
	err := h.history(ctx, rec.ID, h.settings(), at, func(f *folds) (live, gone func(item.Entry)) {
		c, counts = &cut{folds: f, whole: f.last}, f.last == at
		live = func(e item.Entry) {
			if e.Seq > at {
				c.changed(e)
				return
			}
			f.add(e)
			counts = counts || e.Seq == at
			if len(f.context.OpenCalls()) == 0 {
				c.whole = e.Seq
			}
		}
		return live, func(e item.Entry) {
			if e.Seq < at {
				f.skip(e)
			}
		}
	})
	switch {
	case err != nil:
		return nil, err
	case !counts:
		return nil, item.Errorf(item.KindPrecondition, "TAKEN_BACK", "entry #%d of pod %s was taken back by a rewind: name one that counts", at, rec.Name)
	case c.whole != at:
		return nil, item.Errorf(item.KindPrecondition, "OPEN_CALL",
			"#%d of pod %s lies between a tool call and its result: the last place before it that does not is #%d", at, rec.Name, c.whole)
	}
	return c, nil
}

// changed takes note of what the entries above the place did to files and notes.
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
		if it.Origin == item.OriginNote {
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
