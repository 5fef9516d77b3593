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

// The selections: all entries; items and summaries; rewinds.
const (
	All Selection = iota
	Items
	Rewinds
)

// Reader gives the entries of a log above a sequence, in order. It may give more than the
// selection wants. An error is the last element.
type Reader func(after item.Seq, only Selection) iter.Seq2[item.Entry, error]

// Log is a pod's log up to an entry, and knows what rewinds took back of it.
type Log struct {
	read Reader
	last item.Seq
	// returns counts the rewinds to each place; gone are the ranges that those in force took
	// back, ascending.
	returns map[item.Seq]int
	gone    []span
	err     error
}

// span is what a rewind took back: the entries above after and below at, its own.
type span struct{ after, at item.Seq }

// Open looks for the rewinds of a log between two entries. An error comes with what is read
// of the log later.
func Open(read Reader, after, last item.Seq) *Log {
	l := &Log{read: read, last: last, returns: make(map[item.Seq]int)}
	for e, err := range read(after, Rewinds) {
		if err != nil || e.Seq > last {
			l.err = err
			break
		}
		if k, ok := e.Kind.(item.Rewind); ok {
			l.returns[k.To]++
			// What the rewind took back had rewinds of its own, which count for nothing.
			l.gone = slices.DeleteFunc(l.gone, func(s span) bool { return s.at > k.To })
			l.gone = append(l.gone, span{k.To, e.Seq})
		}
	}
	return l
}

// Counts says whether no rewind took an entry back.
func (l *Log) Counts(seq item.Seq) bool {
	i, _ := slices.BinarySearchFunc(l.gone, seq, func(s span, seq item.Seq) int { return cmp.Compare(s.at, seq+1) })
	return i == len(l.gone) || seq <= l.gone[i].after
}

// Entries gives the entries above a sequence that count.
func (l *Log) Entries(after item.Seq, only Selection) iter.Seq2[item.Entry, error] {
	return func(yield func(item.Entry, error) bool) {
		for e, err := range l.upTo(after, l.last, only) {
			if (err != nil || l.Counts(e.Seq)) && !yield(e, err) {
				return
			}
		}
	}
}

// upTo gives the entries above a sequence and up to another one.
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

// Reaches says whether a fold of the log up to an entry can go on: no rewind goes to before it.
func (l *Log) Reaches(last item.Seq) bool { return len(l.gone) == 0 || l.gone[0].after >= last }

// Replay adds entries to a fold: those above its last one, up to another one. visit, unless it
// is nil, is called after each. The fold goes where the pod went when the entries were stored:
// at a rewind it goes back to the place, with what lasts of what came since.
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
			if place == nil {
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
