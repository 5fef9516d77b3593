package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/wire"
)

// How much the tool shows: lines of an overview, hits of a search, and bytes of a prompt's line.
const (
	maxLines  = 100
	maxHits   = 20
	maxPrompt = 120
	pageLen   = 256
)

type look struct {
	Find string `json:"find,omitempty"`
	Read int64  `json:"read,omitempty"`
}

func (l *look) check() error {
	switch {
	case l.Find != "" && l.Read != 0:
		return errors.New("give find or read, not both")
	case len(l.Find) > maxText:
		return fmt.Errorf("find has %d bytes: give at most %d", len(l.Find), maxText)
	case l.Read < 0:
		return errors.New("read is the number of an entry, from 1")
	}
	return nil
}

// Tool makes the tool with which the model of a pod, by its id, looks into its own log. Requests
// offer it once a summary stands for a part of the conversation.
func (s *Searcher) Tool(pod string) tool.Tool {
	h := &history{s, pod}
	return tool.New(tool.History, "Look up this conversation behind its summary: its prompts; with find, where a text is; with read, an entry by its number.",
		h.run, tool.Validate((*look).check), tool.Confined[look](), tool.Repeats[look]())
}

// history looks into the log of a pod.
type history struct {
	*Searcher
	pod string
}

func (h *history) run(ctx context.Context, _ *tool.Invocation, args look) (tool.Output, error) {
	var out tool.Output
	var err error
	switch {
	case args.Find != "":
		out, err = h.find(ctx, args.Find)
	case args.Read > 0:
		out, err = h.entry(ctx, item.Seq(args.Read))
	default:
		out, err = h.prompts(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return tool.Error("history: %v", err), nil
	}
	return out, err
}

// entries passes the entries above after until fn returns false. want says which kinds are wanted.
func (h *history) entries(ctx context.Context, after item.Seq, want func(wire.KindNumber) bool, fn func(item.Entry) bool) error {
	for {
		records, err := h.store.Read(ctx, h.pod, after, pageLen)
		if err != nil || len(records) == 0 {
			return err
		}
		for _, r := range records {
			after = r.Seq
			if !want(wire.KindOf(r.Entry)) {
				continue
			}
			if e, err := r.Decode(); err != nil || !fn(e) {
				return err
			}
		}
	}
}

// prompts lists what people asked, and the summaries.
func (h *history) prompts(ctx context.Context) (out tool.Output, err error) {
	p, err := h.store.Pod(ctx, h.pod)
	if err != nil {
		return out, err
	}
	type line struct {
		seq  item.Seq
		text string
	}
	var lines []line
	want := func(k wire.KindNumber) bool {
		return k == wire.KindSubmitted || k == wire.KindCompaction || k == wire.KindRewind
	}
	err = h.entries(ctx, p.First-1, want, func(e item.Entry) bool {
		switch k := e.Kind.(type) {
		case item.Submitted:
			text, cut := firstOf(blanks(strings.TrimSpace(k.Text)), maxPrompt)
			if cut {
				text += "…"
			}
			lines = append(lines, line{e.Seq, "prompt: " + text})
		case item.Compaction:
			lines = append(lines, line{e.Seq, fmt.Sprintf("summary of what is up to #%d", k.UpTo)})
		case item.Rewind:
			lines = slices.DeleteFunc(lines, func(l line) bool { return l.seq > k.To })
		}
		return true
	})
	if err != nil {
		return out, err
	}
	var b strings.Builder
	if left := len(lines) - maxLines; left > 0 {
		fmt.Fprintf(&b, "[%d earlier ones are left out: find looks into all]\n", left)
		lines = lines[left:]
	}
	for _, l := range lines {
		fmt.Fprintf(&b, "#%d %s\n", l.seq, l.text)
	}
	out.Summary = fmt.Sprintf("history: %s from #%d to #%d", tool.Plural(int64(p.Last-p.First+1), "entry"), p.First, p.Last)
	out.Content = b.String()
	return out, nil
}

// find lists the entries with a text, the newest first, without those of the tool itself.
func (h *history) find(ctx context.Context, text string) (out tool.Output, err error) {
	var b strings.Builder
	n, more := 0, false
	q := Query{Text: text, Pod: h.pod, Kinds: []Kind{Prompt, Answer, Call, Result, System, Note, Summary}}
	for hit, err := range h.Search(ctx, q) {
		if err != nil {
			return out, err
		}
		e, err := h.at(ctx, hit.Seq)
		if err != nil {
			return out, err
		}
		if label(e) == "" {
			continue
		}
		if more = n == maxHits; more {
			break
		}
		n++
		gone := ""
		if hit.TakenBack {
			gone = ", taken back"
		}
		fmt.Fprintf(&b, "#%d %s%s: %s\n", hit.Seq, label(e), gone, hit.Text)
	}
	if more {
		b.WriteString("[there are more, which are older: look for a longer text]\n")
	}
	out.Summary = tool.Bound(fmt.Sprintf("history: %s with %q", tool.Plural(int64(n), "entry"), sanitize.Line(text)))
	out.Content = b.String()
	return out, nil
}

// entry is an entry as it is stored, and of a call also its result.
func (h *history) entry(ctx context.Context, seq item.Seq) (out tool.Output, err error) {
	e, err := h.at(ctx, seq)
	if err != nil {
		return out, err
	}
	name, text := label(e), textOf(e)
	if name == "" || text == "" {
		out.Summary = fmt.Sprintf("history: #%d has no text", seq)
		return out, nil
	}
	out.Summary, out.Content = tool.Bound(fmt.Sprintf("history: #%d, %s", seq, name)), text
	added, _ := e.Kind.(item.ItemAdded)
	if call, ok := added.Item.(item.ToolCall); ok {
		err = h.entries(ctx, seq, func(k wire.KindNumber) bool { return k == wire.KindItem }, func(e item.Entry) bool {
			added, _ := e.Kind.(item.ItemAdded)
			r, ok := added.Item.(item.ToolResult)
			if ok && r.CallID == call.CallID {
				out.Content += fmt.Sprintf("\n\n[#%d, its result]\n%s", e.Seq, textOf(e))
				return false
			}
			return true
		})
	}
	return out, err
}

// at is one entry.
func (h *history) at(ctx context.Context, seq item.Seq) (item.Entry, error) {
	p, err := h.store.Pod(ctx, h.pod)
	if err != nil {
		return item.Entry{}, err
	}
	if seq < p.First || seq > p.Last {
		return item.Entry{}, fmt.Errorf("there is no entry #%d: the log has #%d to #%d", seq, p.First, p.Last)
	}
	records, err := h.store.Read(ctx, h.pod, seq-1, 1)
	if err != nil || len(records) == 0 {
		return item.Entry{}, cmp.Or(err, fmt.Errorf("entry #%d is not there any more", seq))
	}
	return records[0].Decode()
}

// label says in words what an entry is; empty for one of the tool itself.
func label(e item.Entry) string {
	added, ok := e.Kind.(item.ItemAdded)
	switch it := added.Item.(type) {
	case item.ToolCall:
		if it.Name == tool.History {
			return ""
		}
		return "call of " + sanitize.Line(it.Name)
	case item.ToolResult:
		if it.Tool == tool.History {
			return ""
		}
		return "result of " + sanitize.Line(it.Tool)
	}
	if list := pieces(e.Kind); len(list) > 0 {
		return string(list[0].kind)
	}
	if ok {
		return "item"
	}
	return "entry"
}

// textOf is what an entry says.
func textOf(e item.Entry) string {
	var texts []string
	if added, _ := e.Kind.(item.ItemAdded); added.Item != nil {
		if call, ok := added.Item.(item.ToolCall); ok {
			return call.Arguments
		}
	}
	for _, p := range pieces(e.Kind) {
		if p.text != "" {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "\n")
}
