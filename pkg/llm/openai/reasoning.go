package openai

import (
	"strings"

	"github.com/tidwall/gjson"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/encode"
	"podd/pkg/llm/exchange"
)

// reasoningFields are the names under which endpoints send the text of reasoning. The
// first with content wins: some endpoints send the same text under two of them.
var reasoningFields = [...]string{"reasoning_content", "reasoning", "reasoning_text"}

// fieldContent is the field of reasoning that comes as parts of the content (Mistral).
const fieldContent = "content"

// reasoningBlock collects the reasoning of a chat answer: text for a person, and what the
// endpoint wants back.
type reasoningBlock struct {
	open  bool
	block int
	// field is the name under which the endpoint sent the text.
	field string
	text  strings.Builder
	// final is the final form of the text if it differs from the deltas.
	final string
	// details are OpenRouter's reasoning_details, thinking LiteLLM's thinking_blocks.
	details, thinking []reasoningEntry
	// sealed is Copilot's reasoning_opaque, as JSON.
	sealed string
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

// seal stores what the endpoint wants back and only the endpoint can read.
func (r *reasoningBlock) seal(dst []llm.Event, blocks *int, value gjson.Result) []llm.Event {
	if value.Type != gjson.String || value.Str == "" {
		return dst
	}
	r.sealed = value.Raw
	return r.start(dst, blocks)
}

// reasoningEntry is one entry of a list that goes back with the reasoning. A provider's
// signature covers the whole text, so the fragments of an entry are joined again.
type reasoningEntry struct {
	kind, index string
	members     []member
}

// member is one member of a JSON object: text for a string that comes in pieces,
// otherwise raw.
type member struct {
	name string
	text *pieces
	raw  string
}

// addDetails reads the reasoning_details of a chunk. It does not show their text, which
// also comes as "reasoning". Fragments with one type and index belong to one entry.
func (r *reasoningBlock) addDetails(dst []llm.Event, blocks *int, list gjson.Result) []llm.Event {
	for _, fragment := range list.Array() {
		if !fragment.IsObject() {
			continue
		}
		dst = r.start(dst, blocks)
		kind, index := fragment.Get("type").Str, fragment.Get("index")
		n := len(r.details)
		goesOn := n > 0 && kind != "reasoning.encrypted" && index.Type == gjson.Number &&
			r.details[n-1].kind == kind && r.details[n-1].index == index.Raw
		r.details = appendFragment(r.details, goesOn, fragment)
	}
	return dst
}

// addThinking reads the thinking_blocks of a chunk, whose text also comes as
// "reasoning_content". A block ends with its signature.
func (r *reasoningBlock) addThinking(dst []llm.Event, blocks *int, list gjson.Result) []llm.Event {
	for _, fragment := range list.Array() {
		if !fragment.IsObject() {
			continue
		}
		dst = r.start(dst, blocks)
		n := len(r.thinking)
		goesOn := n > 0 && fragment.Get("type").Str == "thinking" && r.thinking[n-1].kind == "thinking" &&
			(!r.thinking[n-1].has("signature") || fragment.Get("thinking").Str == "")
		r.thinking = appendFragment(r.thinking, goesOn, fragment)
	}
	return dst
}

// appendFragment adds a fragment to the last entry, or begins another.
func appendFragment(list []reasoningEntry, goesOn bool, fragment gjson.Result) []reasoningEntry {
	if !goesOn {
		list = append(list, reasoningEntry{kind: fragment.Get("type").Str, index: fragment.Get("index").Raw})
	}
	e := &list[len(list)-1]
	fragment.ForEach(func(key, value gjson.Result) bool {
		e.set(key.String(), value)
		return true
	})
	return list
}

// has says whether a string that comes in pieces has begun.
func (e *reasoningEntry) has(name string) bool {
	for _, m := range e.members {
		if m.name == name {
			return m.text != nil && m.text.joined.Len() > 0
		}
	}
	return false
}

// set adds one member of a fragment: it joins text; any other value that is not null
// replaces the old one.
func (e *reasoningEntry) set(name string, value gjson.Result) {
	joined := value.Type == gjson.String &&
		(name == "text" || name == "summary" || e.kind == "thinking" && (name == "thinking" || name == "signature"))
	for i := range e.members {
		m := &e.members[i]
		switch {
		case m.name != name:
			continue
		case joined && m.text != nil:
			m.text.add(value.Str)
		case joined:
			m.text = newPieces(value.Str)
		case value.Type != gjson.Null:
			m.raw = value.Raw
		}
		return
	}
	m := member{name: name, raw: value.Raw}
	if joined {
		m.text = newPieces(value.Str)
	}
	e.members = append(e.members, m)
}

// pieces is text that comes in pieces: each piece continues the text, or each is all the
// text so far (MiniMax). Only the end shows which.
type pieces struct {
	joined strings.Builder
	last   string
	// soFar says that each piece began with the previous one, grown how often it was longer.
	soFar bool
	grown int
}

func newPieces(s string) *pieces {
	p := &pieces{soFar: true}
	p.add(s)
	return p
}

func (p *pieces) add(s string) {
	if s == "" {
		return
	}
	if p.joined.Len() > 0 {
		p.soFar = p.soFar && strings.HasPrefix(s, p.last)
		if len(s) > len(p.last) {
			p.grown++
		}
	}
	p.joined.WriteString(s)
	p.last = s
}

// text is the text; shown is the part that the endpoint sent for people, if any.
func (p *pieces) text(shown string) string {
	if p.soFar && (p.last == shown || p.grown > 1) {
		return p.last
	}
	return p.joined.String()
}

// opaque is what goes back with the reasoning: the details if there are any, otherwise
// the text under its own name, with its other members.
func (r *reasoningBlock) opaque() item.Opaque {
	shown := r.text.String()
	dst := []byte{'{'}
	switch {
	case len(r.details) > 0:
		dst = appendEntries(dst, "reasoning_details", r.details, shown)
	case r.field == fieldContent:
		dst = append(dst, `"content":[{"type":"thinking","thinking":[{"type":"text","text":`...)
		dst = append(encode.String(dst, shown), "}]}]"...)
	case r.field != "":
		dst = append(encode.String(dst, r.field), ':')
		dst = encode.String(dst, shown)
	}
	if len(r.thinking) > 0 {
		dst = appendEntries(comma(dst), "thinking_blocks", r.thinking, shown)
	}
	if r.sealed != "" {
		dst = append(append(comma(dst), `"reasoning_opaque":`...), r.sealed...)
	}
	if len(dst) == 1 {
		return item.Opaque{}
	}
	return item.Opaque{API: APIChat, JSON: exchange.Clean(string(append(dst, '}')))}
}

// comma separates the next member from one before.
func comma(dst []byte) []byte {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	return dst
}

func appendEntries(dst []byte, name string, list []reasoningEntry, shown string) []byte {
	dst = append(encode.String(dst, name), ":["...)
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = list[i].append(dst, shown)
	}
	return append(dst, ']')
}

func (e *reasoningEntry) append(dst []byte, shown string) []byte {
	dst = append(dst, '{')
	for i, m := range e.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(encode.String(dst, m.name), ':')
		if m.text != nil {
			dst = encode.String(dst, m.text.text(shown))
		} else {
			dst = append(dst, m.raw...)
		}
	}
	return append(dst, '}')
}
