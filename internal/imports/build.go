package imports

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"podd/internal/workspace/picture"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// builder makes the log of a session.
type builder struct {
	limits *tool.Limits
	dir    string

	entries []item.Entry
	// sent are the items that a request carries, turn is the number of the last turn, and now the open one; nil without.
	sent []place
	turn int64
	now  *turn

	// results are those of the session, by their calls in it. waiting are the calls whose answer goes on, with the ids in the
	// session; ids are those of all calls and submits.
	results map[string][]*poddv1.ImportedItem
	waiting []waiting
	ids     map[string]bool
	// pictures counts the bytes of pictures.
	pictures int64

	messages, calls, answers, closed, leftOut int
}

// place is an item of the log. begins says that it is the first of its turn.
type place struct {
	seq    item.Seq
	record string
	begins bool
}

// turn is an open turn.
type turn struct {
	// told is the place of the entry that names the records.
	told    int
	records []string
	at      string
	calls   int
	// answered says that the model said something.
	answered bool
}

// waiting is a call without a result.
type waiting struct {
	item.ToolCall
	id string
}

func newBuilder(limits *tool.Limits, dir string) *builder {
	return &builder{limits: limits, dir: dir, results: make(map[string][]*poddv1.ImportedItem), ids: make(map[string]bool)}
}

// build makes the entries.
func (b *builder) build(from origin, items []*poddv1.ImportedItem) {
	found := 0
	for _, it := range items {
		if r := it.GetItem().GetToolResult(); r != nil {
			b.results[r.GetCallId()] = append(b.results[r.GetCallId()], it)
			found++
		}
	}
	data, _ := json.Marshal(from) // It has a form.
	b.entries = append(b.entries, item.Entry{})
	for _, it := range items {
		b.add(it)
	}
	b.end()
	b.leftOut += found - b.answers
	line := fmt.Sprintf("imported from %s: session %s, %d messages, %d tool calls (%s)", from.Agent, from.Session, b.messages, b.calls, from.File)
	b.entries[0].Kind = item.WingEntry{Wing: wing, Name: kindSession, Line: line, Data: string(data)}
}

// add adds an item of the session.
func (b *builder) add(it *poddv1.ImportedItem) {
	switch k := wire.ItemFromProto(it.GetItem()).(type) {
	case item.UserMessage:
		b.settle()
		b.user(it, k.Text)
	case item.SystemMessage:
		b.settle()
		b.summary(it, k.Text)
	case item.AssistantMessage:
		b.settle()
		b.messages++
		b.model(it, item.AssistantMessage{Text: b.text(k.Text)})
	case item.ToolCall:
		id := k.CallID
		k.CallID = b.unique(id, fits)
		k.Arguments = b.arguments(k.Arguments)
		k.Name, k.Via, k.Opaque = b.text(k.Name), "", item.Opaque{}
		b.calls++
		b.model(it, k)
		b.now.calls++
		b.waiting = append(b.waiting, waiting{k, id})
	default:
		// The calls before it are an answer. Results go where their calls are.
		b.settle()
	}
}

// fits are ids of calls that all endpoints take.
var fits = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// unique is an id that the log does not have yet.
func (b *builder) unique(id string, fits *regexp.Regexp) string {
	made := id
	for n := 1; !fits.MatchString(made) || b.ids[made]; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", id, n))
		made = fmt.Sprintf("call_%x", sum[:16])
	}
	b.ids[made] = true
	return made
}

// text is a text of the session as the log has it.
func (b *builder) text(text string) string { return b.limits.Redact(tool.Repair(text)) }

// arguments are those of a call without secrets, also if their JSON has them with escapes.
func (b *builder) arguments(text string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if b.text(text) == text && (d.Decode(&v) != nil || !b.hides(v)) {
		return text
	}
	clean, err := json.Marshal(b.redacted(v))
	if v == nil || err != nil {
		return b.text(text)
	}
	return string(clean)
}

// put adds an entry of the open turn.
func (b *builder) put(k item.Kind) item.Seq {
	b.entries = append(b.entries, item.Entry{Turn: b.turn, Kind: k})
	return item.Seq(len(b.entries))
}

// item adds an item to the open turn.
func (b *builder) item(from *poddv1.ImportedItem, it item.Item) {
	record := b.text(from.GetRecord())
	seq := b.put(item.ItemAdded{Item: it})
	b.sent = append(b.sent, place{seq, from.GetRecord(), len(b.now.records) == 0})
	b.now.records = append(b.now.records, record)
}

// begin opens a turn, with a submit or without.
func (b *builder) begin(from *poddv1.ImportedItem, requests ...string) {
	b.turn++
	b.now = &turn{at: stamp(from.GetTime().AsTime())}
	b.put(item.TurnStarted{RequestIDs: requests})
	b.now.told = int(b.put(nil)) - 1
}

// end closes the open turn.
func (b *builder) end() {
	if b.settle(); b.now == nil {
		return
	}
	data, _ := json.Marshal(struct {
		Records []string `json:"records"`
		Time    string   `json:"time,omitempty"`
	}{b.now.records, b.now.at})
	b.entries[b.now.told].Kind = item.WingEntry{Wing: wing, Name: kindRecords, Data: string(data)}
	b.put(item.TurnEnded{Outcome: item.OutcomeFinished, ToolCalls: b.now.calls})
	b.now = nil
}

// model adds an item of the model.
func (b *builder) model(from *poddv1.ImportedItem, it item.Item) {
	if b.now == nil {
		b.begin(from)
	}
	b.now.answered = true
	b.item(from, it)
}

// user adds a message: a prompt begins a turn unless it joins one.
func (b *builder) user(it *poddv1.ImportedItem, text string) {
	images, lines := b.images(it.GetImages())
	text = strings.Trim(b.text(text)+"\n"+strings.Join(lines, "\n"), "\n")
	m := item.UserMessage{Text: text, Images: item.NewImages(images...)}
	if it.GetSynthetic() {
		if b.now == nil {
			b.begin(it)
		}
		b.item(it, m)
		return
	}
	b.messages++
	if b.now != nil && b.now.answered && !it.GetJoined() {
		b.end()
	}
	s := item.Submitted{RequestID: b.unique("import-"+b.text(it.GetRecord()), anyID), Text: text, Segments: []item.Segment{item.TextSegment{Text: text}}}
	for _, i := range images {
		s.Segments = append(s.Segments, item.ImageSegment{Image: i})
	}
	if b.now != nil {
		s.Mode = item.ModeSteer
	}
	b.entries = append(b.entries, item.Entry{Kind: s})
	if b.now == nil {
		b.begin(it, s.RequestID)
	} else {
		b.put(item.Promoted{RequestIDs: []string{s.RequestID}})
	}
	b.item(it, m)
}

// anyID are ids of submits.
var anyID = regexp.MustCompile(`^[ -~]{1,128}$`)

// summary puts a summary in place of the items before it, but for those that the agent still sent: whole turns of them.
func (b *builder) summary(it *poddv1.ImportedItem, text string) {
	b.end()
	n := len(b.sent)
	for i := 0; i < len(b.sent) && it.GetKeeps() != ""; i++ {
		if b.sent[i].record == it.GetKeeps() {
			for n = i; n > 0 && !b.sent[n].begins; n-- {
			}
			break
		}
	}
	if n == 0 {
		b.begin(it)
		b.item(it, item.UserMessage{Text: b.text(text)})
		return
	}
	b.entries = append(b.entries, item.Entry{Kind: item.Compaction{
		Summary: item.SystemMessage{Origin: item.OriginCompaction, Text: b.text(text)}, UpTo: b.sent[n-1].seq, Reason: "imported",
	}})
	b.sent = append([]place{{seq: b.sent[n-1].seq, begins: true}}, b.sent[n:]...)
}

// settle gives the calls of an answer their results.
func (b *builder) settle() {
	for _, call := range b.waiting {
		of := b.results[call.id]
		if len(of) == 0 {
			b.closed++
			out := tool.Error("no result: the session has none of this call, which may have taken effect")
			b.item(&poddv1.ImportedItem{}, item.ToolResult{CallID: call.CallID, Tool: call.Name, Output: out})
			continue
		}
		b.results[call.id] = of[1:]
		b.answers++
		b.item(of[0], b.result(call.ToolCall, of[0]))
	}
	b.waiting = nil
}

// result is a result as podd would have stored it.
func (b *builder) result(call item.ToolCall, it *poddv1.ImportedItem) item.ToolResult {
	given := it.GetItem().GetToolResult()
	out := tool.FromString(given.GetContent())
	kind, argument := about(call)
	if out.Content != "" {
		outcome := fmt.Sprintf("%d lines", tool.CountLines(out.Content))
		if given.GetIsError() {
			outcome = "failed, " + outcome
		}
		out.Summary = tool.Bound(fmt.Sprintf("%s %s: %s", call.Name, argument, outcome))
	}
	out.Kind, out.IsError = kind, given.GetIsError()
	if kind == item.OutputRead || kind == item.OutputEdit {
		out.Path = b.inside(argument)
	}
	images, lines := b.images(it.GetImages())
	out.Images = item.NewImages(images...)
	if len(lines) > len(images) {
		out.Content = strings.TrimLeft(out.Content+"\n"+strings.Join(lines[len(images):], "\n"), "\n")
	}
	out = b.limits.Apply(call.Name, b.limits.Clean(out), nil)
	return item.ToolResult{CallID: call.CallID, Tool: call.Name, Output: out}
}

// inside is a path relative to the workspace; empty for one outside of it.
func (b *builder) inside(path string) string {
	if filepath.IsAbs(path) {
		path, _ = filepath.Rel(b.dir, path)
	}
	if path = filepath.Clean(path); path == "." || !filepath.IsLocal(path) {
		return ""
	}
	return path
}

// images are the pictures that the log can have, and a line for each: what it is, and then what was left out.
func (b *builder) images(files [][]byte) (images []item.Image, lines []string) {
	var out []string
	for _, data := range files {
		image, err := picture.Read(data, "")
		if err == nil && (len(images) == item.MaxImages || b.pictures+image.Bytes > item.MaxPodImagesBytes) {
			err = fmt.Errorf("there are too many")
		}
		if err != nil {
			b.leftOut++
			out = append(out, fmt.Sprintf("[an image was left out: %v]", err))
			continue
		}
		b.pictures += image.Bytes
		images, lines = append(images, image), append(lines, fmt.Sprintf("[%s]", image))
	}
	return images, append(lines, out...)
}

// hides says whether a value has a secret in one of its texts.
func (b *builder) hides(v any) bool {
	switch v := v.(type) {
	case string:
		return b.text(v) != v
	case []any:
		for _, e := range v {
			if b.hides(e) {
				return true
			}
		}
	case map[string]any:
		for k, e := range v {
			if b.hides(k) || b.hides(e) {
				return true
			}
		}
	}
	return false
}

// redacted is a value without the secrets in its texts.
func (b *builder) redacted(v any) any {
	switch v := v.(type) {
	case string:
		return b.text(v)
	case []any:
		for i := range v {
			v[i] = b.redacted(v[i])
		}
	case map[string]any:
		for k, e := range v {
			delete(v, k)
			v[b.text(k)] = b.redacted(e)
		}
	}
	return v
}
