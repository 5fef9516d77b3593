package pod

import (
	"context"
	"fmt"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
)

// Rewound is the result of a rewind, and what it can't undo.
type Rewound struct {
	// Seq is the rewind's entry.
	Seq item.Seq
	// Files are those that tools changed in the undone part, Commands counts the shell
	// commands that ran there. Neither is undone.
	Files    []string
	Commands int
}

// Rewind makes the history of a pod without a running turn continue from an earlier
// entry. The undone part stays readable and paid for; requests no longer have it. Notes
// that no turn has taken yet keep waiting: they are stored again after the rewind. Rewind
// starts nothing by itself: an undone turn that a note started is closed as interrupted.
// An open turn that can't continue is cancelled first.
func (h *Host) Rewind(ctx context.Context, idOrName string, to item.Seq) (Rewound, error) {
	if to < 1 {
		return Rewound{}, item.Errorf(item.KindInvalid, "BAD_SEQ", "a rewind needs the number of an entry, from 1")
	}
	for {
		var out Rewound
		var first cancelling
		_, err := h.change(ctx, idOrName, func(a *actor) (err error) {
			out, first, err = a.rewind(ctx, to)
			return err
		})
		if err != nil || first.turn == nil {
			return out, err
		}
		if err := first.wait(ctx); err != nil {
			return Rewound{}, err
		}
		if !first.turn.over {
			return Rewound{}, first.turn.notCancelled()
		}
	}
}

// rewind says which turn has to end first.
func (a *actor) rewind(ctx context.Context, to item.Seq) (Rewound, cancelling, error) {
	// A turn that has not begun is not in the log, or can't continue with what is.
	if t := a.turns.now; t != nil && (t.begun || a.journal.state.Turn.Open && a.backlog.stuck == nil) {
		return Rewound{}, cancelling{}, a.runs("rewind it")
	}
	c, err := a.host.Logs.cutAt(ctx, a.journal.rec, to)
	if err != nil {
		return Rewound{}, cancelling{}, err
	}
	if a.journal.state.Turn.Open {
		first, err := a.cancelTurn(fmt.Sprintf("it was blocked, and the pod was rewound to #%d", to), false)
		return Rewound{}, first, err
	}
	before := a.journal.state
	a.journal.state.Notes = c.fold.State.Notes
	_, entries, err := a.journal.commit(ctx, store.Batch{Entries: c.rewind(to, a.journal.state)})
	if err != nil {
		a.journal.state = before
		return Rewound{}, cancelling{}, err
	}
	// If folding fails, the next turn folds again.
	a.folded = nil
	if err := a.fold(a.host.base, a.host.settings()); err != nil {
		return Rewound{}, cancelling{}, err
	}
	a.next()
	return Rewound{Seq: entries[0].Seq, Files: c.files, Commands: c.commands}, cancelling{}, nil
}

// rewind are the entries of a rewind to the place. s is the pod's state after it.
func (c *cut) rewind(to item.Seq, s fold.State) []item.Entry {
	entries := []item.Entry{{Kind: item.Rewind{To: to}}}
	if _, wakes := s.Wakes(); c.taken > 0 && wakes {
		entries = append(entries, cutShort(s, "the pod was rewound to before this turn")...)
	}
	for _, n := range c.waiting() {
		entries = append(entries, item.Entry{Kind: n})
	}
	return entries
}
