package fold

import (
	"slices"
	"time"

	"podd/pkg/item"
)

// State is a pod's state after the entries of its log so far. It is a value: slices are
// replaced and never changed, so entries that are not stored yet can be tried on a copy,
// and a copy stays valid for ever. The zero value is the state of an empty log, at
// built-in prices.
type State struct {
	// Total is what all turns used, including those that a rewind undid.
	Total Spent
	// Turn is the last turn.
	Turn Turn
	// Notes are those that no turn has taken, in order.
	Notes []Note
	// Jobs are the background commands. A rewind does not undo them.
	Jobs Jobs
	// Pending are the entries of wings for which podd has work to do. A rewind does not undo them.
	Pending []item.Seq
	// Files are what checkpoints and restores of files say. A rewind does not undo them.
	Files Files

	models Models
}

// Note is a client's note and its entry.
type Note struct {
	item.Note
	Seq item.Seq
}

// Knowing is the state with what is known about the models of later requests. A decoded
// State knows the built-in catalogue.
func (s State) Knowing(models Models) State {
	s.models = models
	return s
}

// Add folds the next entry. Entries come in the order of the log.
func (s *State) Add(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.Purged:
		s.purged(e.Turn, k)
	case item.Rewind:
		s.Turn = Turn{Number: s.Turn.Number, Plan: s.Turn.Plan, NoQuestions: s.Turn.NoQuestions}
	case item.TurnStarted:
		if len(k.RequestIDs) == 0 && slices.ContainsFunc(s.Notes, func(n Note) bool { return n.Job != "" && n.Wake }) {
			s.Jobs.woke(e.Time)
		}
		s.Turn = Turn{
			Number: e.Turn, Open: true, Began: e.Seq, RequestIDs: k.RequestIDs, Plan: k.Plan, NoQuestions: k.NoQuestions,
			Wanted: Wanted{Schema: k.AnswerSchema}, Asked: Asked{Choice: k.Choice},
		}
	case item.Note:
		s.Notes = append(slices.Clip(s.Notes), Note{k, e.Seq})
	case item.WingEntry:
		s.ofWing(e.Seq, k)
	case item.Job:
		s.Jobs.add(e.Turn, k)
	case item.Checkpoint:
		s.Files.checkpoint(e.Seq, e.Turn, k)
	case item.Restore:
		s.Files.restore(e.Seq, k)
	case item.TurnEnded:
		if k.Outcome == item.OutcomeCancelled {
			s.Jobs.cancel(e.Turn)
		}
		s.Turn.add(e)
	case item.RequestUsage:
		s.Total.Add(k, s.models)
		if e.Turn > 0 || k.Purpose != item.PurposeSubPod {
			s.Turn.billed(k, s.models) // What a sub-pod in the background used is the pod's.
		}
	case item.ItemAdded:
		if m, ok := k.Item.(item.SystemMessage); ok && m.FromNote() && len(s.Notes) > 0 {
			s.Notes = s.Notes[1:]
		}
		s.Turn.added(e, k.Item)
	default:
		s.Turn.add(e)
	}
}

// ofWing notes what is pending for an entry of a wing.
func (s *State) ofWing(seq item.Seq, k item.WingEntry) {
	if k.Done > 0 {
		s.Pending = slices.DeleteFunc(slices.Clone(s.Pending), func(seq item.Seq) bool { return seq == k.Done })
	}
	if k.Pending {
		s.Pending = append(slices.Clip(s.Pending), seq)
	}
}

// purged adds the counts of the removed entries.
func (s *State) purged(turn int64, k item.Purged) {
	s.Turn.Number = turn
	for _, r := range k.Totals.Requests {
		s.Total.Add(r.Request(), s.models)
	}
	for _, j := range k.Jobs {
		s.Jobs.add(0, j)
	}
}

// FailedCheck is the note of the last check, if that failed; false once a turn has taken the note.
func (s *State) FailedCheck() (note Note, failed bool) {
	for _, n := range slices.Backward(s.Notes) {
		if n.Check != "" {
			return n, n.Check == item.OutcomeFailed
		}
	}
	return Note{}, false
}

// Wakes says whether a waiting note wakes the pod.
func (s *State) Wakes() (from time.Time, wakes bool) {
	for _, n := range s.Notes {
		if n.Wake && (!wakes || n.NotBefore.Before(from)) {
			from, wakes = n.NotBefore, true
		}
	}
	return from, wakes
}
