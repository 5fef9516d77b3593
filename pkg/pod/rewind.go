package pod

import (
	"context"
	"slices"

	"podd/pkg/item"
	"podd/pkg/store"
)

// Rewound is what a rewind did, and what it can't undo.
type Rewound struct {
	// Seq is the entry that says so.
	Seq item.Seq
	// Files are those that tools changed in what was taken back, Commands counts the
	// shell commands that ran there. Neither is undone.
	Files    []string
	Commands int
}

// Rewind lets the history of an idle pod go on from an earlier entry. What was taken
// back stays readable and paid for; requests don't carry it any more. Notes that no turn
// has taken in yet go on waiting: they are stored again behind the rewind.
func (h *Host) Rewind(ctx context.Context, idOrName string, to item.Seq) (out Rewound, err error) {
	if to < 1 {
		return Rewound{}, item.Errorf(item.KindInvalid, "BAD_SEQ", "a rewind needs the entry to go on from: a sequence from 1")
	}
	_, err = h.change(ctx, idOrName, func(a *actor) error {
		out, err = a.rewind(ctx, to)
		return err
	})
	return out, err
}

func (a *actor) rewind(ctx context.Context, to item.Seq) (Rewound, error) {
	if err := a.checkEnd("rewind"); err != nil {
		return Rewound{}, err
	}
	c, err := a.host.cutAt(ctx, a.rec, to)
	if err != nil {
		return Rewound{}, err
	}
	b := store.Batch{Entries: []item.Entry{{Kind: item.Rewind{To: to}}}}
	waiting := c.waiting()
	for _, n := range waiting {
		b.Entries = append(b.Entries, item.Entry{Kind: n})
	}
	_, entries, err := a.commit(ctx, b, a.situation)
	if err != nil {
		return Rewound{}, err
	}
	// Where the fold fails the next turn folds again, before it begins, but after it has
	// taken these.
	a.journal.notes = slices.Concat(c.folds.journal.notes, waiting)
	a.folded = nil
	if err := a.fold(a.host.base, a.host.settings()); err != nil {
		return Rewound{}, err
	}
	return Rewound{Seq: entries[0].Seq, Files: c.files, Commands: c.commands}, nil
}
