package fold

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"podd/pkg/item"
)

// Selection says which entries of a log are wanted.
type Selection int

// The selections: all entries; items and summaries; rewinds; entries of wings.
const (
	All Selection = iota
	Items
	Rewinds
	Wings
)

// Reader returns the entries of a log above a sequence, in order, and may return more
// than the selection wants. An error is the last element.
type Reader func(after item.Seq, only Selection) iter.Seq2[item.Entry, error]

// Log is a pod's log up to an entry. It knows what rewinds undid.
type Log struct {
	read Reader
	last item.Seq
	// returns counts the rewinds to each entry; gone are the ranges that the effective
	// rewinds undid, ascending.
	returns map[item.Seq]int
	gone    []span
	err     error
}

// span is what a rewind undid: the entries above after and below at, which is its own.
type span struct{ after, at item.Seq }

// Open looks for the rewinds of a log between two entries. An error shows when the log is
// read later.
func Open(read Reader, after, last item.Seq) *Log {
	l := &Log{read: read, last: last, returns: make(map[item.Seq]int)}
	for e, err := range read(after, Rewinds) {
		if err != nil || e.Seq > last {
			l.err = err
			break
		}
		if k, ok := e.Kind.(item.Rewind); ok {
			l.returns[k.To]++
			// The undone part had rewinds of its own, which have no effect.
			l.gone = slices.DeleteFunc(l.gone, func(s span) bool { return s.at > k.To })
			l.gone = append(l.gone, span{k.To, e.Seq})
		}
	}
	return l
}

// Counts says whether an entry is in effect, because no rewind undid it.
func (l *Log) Counts(seq item.Seq) bool {
	i, _ := slices.BinarySearchFunc(l.gone, seq, func(s span, seq item.Seq) int { return cmp.Compare(s.at, seq+1) })
	return i == len(l.gone) || seq <= l.gone[i].after
}

// Entries returns the effective entries above a sequence.
func (l *Log) Entries(after item.Seq, only Selection) iter.Seq2[item.Entry, error] {
	return func(yield func(item.Entry, error) bool) {
		for e, err := range l.upTo(after, l.last, only) {
			if (err != nil || l.Counts(e.Seq)) && !yield(e, err) {
				return
			}
		}
	}
}

// upTo returns the entries above a sequence and up to another one.
func (l *Log) upTo(after, last item.Seq, only Selection) iter.Seq2[item.Entry, error] {
	return func(yield func(item.Entry, error) bool) {
		for e, err := range l.read(after, only) {
			if err == nil && e.Seq > last {
				break
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		if l.err != nil {
			yield(item.Entry{}, l.err)
		}
	}
}

// Reaches says whether a fold of the log up to an entry can continue: no rewind goes to
// before it.
func (l *Log) Reaches(last item.Seq) bool { return len(l.gone) == 0 || l.gone[0].after >= last }

// Replay adds entries to a fold: those above its last one, up to another one. visit,
// unless it is nil, is called after each. The fold goes through the states that the pod
// had when the entries were stored: at a rewind it goes back to the earlier state, and
// keeps the part of later ones that a rewind does not undo.
func (l *Log) Replay(f *Fold, upTo item.Seq, visit func(item.Entry)) error {
	left, places := maps.Clone(l.returns), make(map[item.Seq]*Fold)
	remember := func() {
		if left[f.Last] > 0 {
			places[f.Last] = f.clone()
		}
	}
	remember()
	for e, err := range l.upTo(f.Last, min(upTo, l.last), All) {
		if err != nil {
			return err
		}
		if k, ok := e.Kind.(item.Rewind); ok {
			place := places[k.To]
			switch {
			case place == nil && l.err != nil:
				return l.err // The search for rewinds did not get as far.
			case place == nil:
				return item.Errorf(item.KindDataLoss, "DAMAGED", "the rewind #%d goes to #%d, which the log does not have", e.Seq, k.To)
			}
			if left[k.To]--; left[k.To] > 0 {
				place = place.clone()
			} else {
				delete(places, k.To)
			}
			f.back(place)
		}
		f.Add(e)
		remember()
		if visit != nil {
			visit(e)
		}
	}
	return nil
}
