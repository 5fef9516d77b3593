package search

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"podd/pkg/item"
	"podd/pkg/wire"
)

// Kind is what an entry says, as people name it.
type Kind string

// The kinds.
const (
	Prompt    Kind = "prompt"
	Answer    Kind = "answer"
	Reasoning Kind = "reasoning"
	Call      Kind = "call"
	Result    Kind = "result"
	Note      Kind = "note"
	System    Kind = "system"
	Summary   Kind = "summary"
	Approval  Kind = "approval"
	Alert     Kind = "alert"
	End       Kind = "end"
)

// stored are where texts of a kind are: in which kinds of entries, or of items.
var stored = map[Kind]wanted{
	Prompt:    {kinds: setOf(wire.KindSubmitted)},
	Answer:    {items: setOf(wire.ItemAssistant)},
	Reasoning: {items: setOf(wire.ItemReasoning)},
	Call:      {items: setOf(wire.ItemToolCall)},
	Result:    {items: setOf(wire.ItemToolResult)},
	System:    {kinds: setOf(wire.KindWing), items: setOf(wire.ItemSystem)},
	Note:      {kinds: setOf(wire.KindNote)},
	Summary:   {kinds: setOf(wire.KindCompaction)},
	Approval:  {kinds: setOf(wire.KindApprovalRequested, wire.KindApprovalResolved)},
	Alert:     {kinds: setOf(wire.KindAlert)},
	End:       {kinds: setOf(wire.KindTurnEnded)},
}

// wanted are the kinds of entries, and of items, in which to look. Setups are never searched,
// nor what another entry has too.
type wanted struct{ kinds, items set }

// newWanted is where texts of one of the kinds are; of none means of all.
func newWanted(kinds []Kind) (w wanted) {
	if len(kinds) == 0 {
		kinds = slices.Collect(maps.Keys(stored))
	}
	for _, kind := range kinds {
		w.kinds |= stored[kind].kinds
		w.items |= stored[kind].items
	}
	return w
}

// set has small numbers.
type set uint64

func setOf[N ~int32](numbers ...N) (s set) {
	for _, n := range numbers {
		s |= 1 << n
	}
	return s
}

func (s set) has(n int) bool { return s>>n&1 != 0 }

// piece is a text of an entry.
type piece struct {
	kind Kind
	text string
}

// pieces are the texts of an entry in which search looks, the most telling first.
func pieces(kind item.Kind) []piece {
	switch k := kind.(type) {
	case item.Submitted:
		return []piece{{Prompt, k.Text}}
	case item.ItemAdded:
		return ofItem(k.Item)
	case item.Compaction:
		var list []piece
		for _, p := range ofItem(k.Summary) {
			list = append(list, piece{Summary, p.text})
		}
		return list
	case item.Note:
		return []piece{{Note, k.Text}}
	case item.WingEntry:
		return []piece{{System, k.Line}}
	case item.ApprovalRequested:
		return []piece{{Approval, k.Question}}
	case item.ApprovalResolved:
		return []piece{{Approval, k.Reason}}
	case item.AlertRaised:
		return []piece{{Alert, k.Alert.Text}}
	case item.TurnEnded:
		return []piece{{End, k.Cause}}
	}
	return nil
}

// ofItem are the texts of an item. A user's message is that of the submitted entries before
// it, and a note's the note.
func ofItem(it item.Item) []piece {
	switch it := it.(type) {
	case item.SystemMessage:
		if !it.FromNote() {
			return []piece{{System, it.Text}}
		}
	case item.AssistantMessage:
		return []piece{{Answer, it.Text}}
	case item.Reasoning:
		return []piece{{Reasoning, it.Text}}
	case item.ToolCall:
		list := []piece{{Call, it.Name}}
		for _, text := range values(it.Arguments) {
			list = append(list, piece{Call, text})
		}
		return list
	case item.ToolResult:
		list := []piece{{Result, it.Summary}, {Result, it.Content}}
		for _, d := range it.Diffs.List() {
			list = append(list, piece{Result, d.Path}, piece{Result, d.Diff})
		}
		return list
	}
	return nil
}

// values are the names and the values in a JSON text, decoded; a malformed one is one value.
func values(raw string) (list []string) {
	if !json.Valid([]byte(raw)) {
		return []string{raw}
	}
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return list
		}
		switch v := token.(type) {
		case string:
			list = append(list, v)
		case json.Number:
			list = append(list, v.String())
		}
	}
}
