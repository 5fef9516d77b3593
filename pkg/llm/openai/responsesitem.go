package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/exchange"
)

// outputItem is the part of an output item that has arrived.
type outputItem struct {
	// index and id name the item in events.
	index, id string
	kind      llm.BlockKind
	block     int
	// callID and name are a call's.
	callID, name string
	// text is what was passed on, or waits for the name of a call.
	text strings.Builder
	// parts are the final forms of the parts that are over, open the received part of the next one.
	parts []string
	open  strings.Builder
	// summary is the index of the open part of a summary, ended that of the part that was
	// over last.
	summary, ended string
	// final is the final form of the text; empty as long as the deltas are all there is.
	final  string
	opaque item.Opaque
	// started says that the block is open, done that the item came in its final form, stray
	// that no event began it.
	started, done, stray bool
}

// next is text as it follows what was sent: a further part begins a new paragraph.
// content_index is useless, because vLLM increments it with each delta.
func (it *outputItem) next(text, summary string) string {
	if it.open.Len() > 0 && summary != it.summary {
		it.end(it.open.String(), it.summary+"/")
	}
	begins := it.open.Len() == 0 && len(it.parts) > 0 && it.kind != llm.BlockToolCall
	it.summary = summary
	it.open.WriteString(text)
	if begins {
		return "\n\n" + text
	}
	return text
}

// end ends a part with its final form. Two events may have that of one part.
func (it *outputItem) end(text, index string) {
	n := len(it.parts)
	if again := it.open.Len() == 0 && n > 0 && (index == it.ended || text == it.parts[n-1]); again {
		it.parts[n-1] = text
	} else {
		it.parts = append(it.parts, text)
	}
	it.ended = index
	it.open.Reset()
}

// joined is the text of all parts.
func (it *outputItem) joined() string {
	parts := it.parts
	if it.open.Len() > 0 {
		parts = append(slices.Clip(parts), it.open.String())
	}
	return strings.Join(parts, "\n\n")
}

// settle replaces the final form, unless the new one says nothing.
func (it *outputItem) settle(final string) {
	if final == "" || it.kind == llm.BlockToolCall && exchange.IsEmpty(final) && it.text.Len() > 0 {
		return
	}
	it.final = final
}

// changed is the final form of the text if it is not what was passed on.
func (it *outputItem) changed() string {
	final := cmp.Or(it.final, it.joined())
	if it.kind == llm.BlockToolCall {
		final = exchange.Arguments(cmp.Or(it.final, it.text.String()))
	}
	if final == it.text.String() {
		return ""
	}
	return final
}

// named sets what is known of a call.
func (it *outputItem) named(raw gjson.Result) {
	it.callID = cmp.Or(it.callID, exchange.Clean(raw.Get("call_id").String()))
	it.name = cmp.Or(it.name, exchange.Clean(raw.Get("name").String()))
}

// isSame says whether the final list means this item.
func (it *outputItem) isSame(raw gjson.Result) bool {
	id, callID := raw.Get("id").Str, raw.Get("call_id").String()
	return id != "" && it.id == id || callID != "" && it.callID == callID
}

// maybe says whether the final list can mean this item.
func (it *outputItem) maybe(raw gjson.Result) bool {
	return it.name == "" || it.name == raw.Get("name").String()
}
