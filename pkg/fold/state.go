package fold

import (
	"slices"

	"podd/pkg/item"
)

// State is where a pod stands after the entries of its log so far. It is a value: slices are
// replaced and never changed, so a copy can be tried on entries that are not stored yet, and
// whoever got a copy may keep it. The zero value is the state of an empty log, at built-in prices.
type State struct {
	// Total is what all turns used, those that a rewind took back included.
	Total Spent
	// Turn is the last turn.
	Turn Turn
	// Notes are those that no turn has taken in yet, in their order.
	Notes []Note

	prices []ModelPrice
}

// Note is a client's note and its entry.
type Note struct {
	item.Note
	Seq item.Seq
}

// Priced is the state with prices that come before the built-in ones, for requests to come.
// A decoded State has none.
func (s State) Priced(prices []ModelPrice) State {
	s.prices = prices
	return s
}

// Add folds the next entry in. Entries come in the order of the log.
func (s *State) Add(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.Purged:
		s.purged(e.Turn, k.Totals)
	case item.Rewind:
		s.Turn = Turn{Number: s.Turn.Number}
	case item.TurnStarted:
		s.Turn = Turn{Number: e.Turn, Open: true, Began: e.Seq, RequestIDs: k.RequestIDs}
	case item.Note:
		s.Notes = append(slices.Clip(s.Notes), Note{k, e.Seq})
	case item.RequestUsage:
		s.Total.add(k, s.prices)
		s.Turn.billed(k, s.prices)
	case item.ItemAdded:
		if m, ok := k.Item.(item.SystemMessage); ok && m.Origin == item.OriginNote && len(s.Notes) > 0 {
			s.Notes = s.Notes[1:]
		}
		s.Turn.added(e, k.Item)
	default:
		s.Turn.add(e)
	}
}

// purged adds what the removed entries of a log recorded.
func (s *State) purged(turn int64, t item.Totals) {
	s.Turn.Number = turn
	for _, r := range t.Requests {
		s.Total.add(r.Request(), s.prices)
	}
}

// Wakes says whether a note wants a turn.
func (s *State) Wakes() bool {
	return slices.ContainsFunc(s.Notes, func(n Note) bool { return n.Wake })
}
