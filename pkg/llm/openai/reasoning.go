package openai

import (
	"strings"

	"github.com/tidwall/gjson"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// reasoningBlock collects the reasoning of a chat answer: what a person may read,
// and what the endpoint wants back.
type reasoningBlock struct {
	open  bool
	block int
	// field is the name under which the endpoint sent the text; empty when it does
	// not take it back.
	field   string
	text    strings.Builder
	details []reasoningDetail
}

// add appends text that came under a field.
func (r *reasoningBlock) add(dst []llm.Event, blocks *int, field, text string) []llm.Event {
	if text == "" {
		return dst
	}
	dst = r.start(dst, blocks)
	r.field = field
	r.text.WriteString(text)
	return append(dst, llm.BlockDelta{Block: r.block, Text: text})
}

func (r *reasoningBlock) start(dst []llm.Event, blocks *int) []llm.Event {
	if r.open {
		return dst
	}
	r.open, r.block = true, *blocks
	*blocks++
	return append(dst, llm.BlockStart{Block: r.block, Kind: llm.BlockReasoning})
}

// reasoningDetail is one entry of OpenRouter's reasoning_details. A provider's
// signature covers the whole text, so the fragments with one type and index become
// one entry again.
type reasoningDetail struct {
	kind, index string
	members     []member
}

// member is one member of a JSON object: text for a string, else raw.
type member struct {
	name string
	text *strings.Builder
	raw  string
}

// addDetails takes the reasoning_details of a chunk. Their text also comes as
// "reasoning", so it is not shown from here.
func (r *reasoningBlock) addDetails(dst []llm.Event, blocks *int, list gjson.Result) []llm.Event {
	if !list.IsArray() {
		return dst
	}
	list.ForEach(func(_, entry gjson.Result) bool {
		if entry.IsObject() {
			dst = r.start(dst, blocks)
			r.merge(entry)
		}
		return true
	})
	return dst
}

// merge joins an entry to the last one when both are fragments of one.
func (r *reasoningBlock) merge(entry gjson.Result) {
	kind, index := entry.Get("type").Str, entry.Get("index")
	n := len(r.details)
	if n == 0 || kind == "reasoning.encrypted" || index.Type != gjson.Number ||
		r.details[n-1].kind != kind || r.details[n-1].index != index.Raw {
		r.details = append(r.details, reasoningDetail{kind: kind, index: index.Raw})
		n++
	}
	d := &r.details[n-1]
	entry.ForEach(func(key, value gjson.Result) bool {
		d.set(key.String(), value)
		return true
	})
}

// set takes one member of a fragment: text is joined, anything else that is not
// null replaces what was there.
func (d *reasoningDetail) set(name string, value gjson.Result) {
	joined := value.Type == gjson.String && (name == "text" || name == "summary")
	for i := range d.members {
		m := &d.members[i]
		switch {
		case m.name != name:
			continue
		case joined && m.text != nil:
			m.text.WriteString(value.Str)
		case joined:
			m.text = newText(value.Str)
		case value.Type != gjson.Null:
			m.raw = value.Raw
		}
		return
	}
	m := member{name: name, raw: value.Raw}
	if joined {
		m.text = newText(value.Str)
	}
	d.members = append(d.members, m)
}

func newText(s string) *strings.Builder {
	b := new(strings.Builder)
	b.WriteString(s)
	return b
}

// opaque is what goes back with the reasoning: the details where there are any,
// else the text under its own name.
func (r *reasoningBlock) opaque(q quirks) item.Opaque {
	switch {
	case len(r.details) > 0:
		dst := []byte(`{"reasoning_details":[`)
		for i, d := range r.details {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = d.append(dst)
		}
		return item.Opaque{API: APIChat, JSON: clean(string(dst) + "]}")}
	case r.field == "" || r.field == "reasoning" && q.noReasoningField:
		return item.Opaque{}
	}
	dst := append([]byte(`{"`), r.field...)
	dst = append(dst, `":`...)
	dst = appendString(dst, r.text.String())
	return item.Opaque{API: APIChat, JSON: clean(string(dst) + "}")}
}

func (d *reasoningDetail) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range d.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, m.name)
		dst = append(dst, ':')
		if m.text != nil {
			dst = appendString(dst, m.text.String())
		} else {
			dst = append(dst, m.raw...)
		}
	}
	return append(dst, '}')
}
