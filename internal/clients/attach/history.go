package attach

import (
	"slices"
	"strings"

	"podd/pkg/item"
)

// mostRecalled is how many earlier prompts can be recalled.
const mostRecalled = 1000

// sentPrompt is a prompt that was sent.
type sentPrompt struct {
	editor
	// request is its request id; empty for a command.
	request string
}

// history is the earlier prompts, oldest first.
type history struct {
	prompts []sentPrompt
	// at is the prompt that was recalled; len(prompts) is the draft. unsent is the draft while
	// another is shown.
	at     int
	unsent editor
	search *historySearch
}

// historySearch looks for a prompt that contains a text. from is where the search began, and
// before the draft there.
type historySearch struct {
	query    string
	at, from int
	before   editor
	// failed says that no older prompt has the text.
	failed bool
}

// add notes a prompt that was sent. A draft that was behind it stays in the history.
func (h *history) add(e editor, request string) {
	if h.at < len(h.prompts) {
		h.keep(h.unsent)
	}
	h.prompts = append(h.prompts, sentPrompt{e.copied(), request})
	h.prompts = h.prompts[max(len(h.prompts)-mostRecalled, 0):]
	h.at, h.unsent = len(h.prompts), editor{}
}

// keep notes a draft that leaves the screen, so that a person can recall it.
func (h *history) keep(e editor) (kept bool) {
	if e.empty() || h.shows(e) || len(h.prompts) > 0 && h.prompts[len(h.prompts)-1].whole() == e.whole() {
		return false
	}
	if h.at == len(h.prompts) {
		h.at++
	}
	h.prompts = append(h.prompts, sentPrompt{editor: e.copied()})
	return true
}

// shows says whether a draft is the prompt that was recalled.
func (h *history) shows(e editor) bool {
	return h.at < len(h.prompts) && h.prompts[h.at].whole() == e.whole()
}

// stash puts the draft aside before another is shown. A recalled prompt that was changed is a
// draft of its own.
func (h *history) stash(draft *editor) {
	switch {
	case h.at == len(h.prompts):
	case draft.empty() || h.shows(*draft):
		return
	default:
		h.keep(h.unsent)
		h.at = len(h.prompts)
	}
	h.unsent = draft.copied()
}

// earlier is a history of the prompts of earlier views.
func earlier(prompts []sentPrompt) (h history) {
	for _, p := range prompts {
		h.add(p.editor, p.request)
	}
	return h
}

// copied is the text with the cursor at its end.
func (e *editor) copied() editor { return editor{slices.Clone(e.cells), len(e.cells)} }

// recall replaces the draft by the prompt before (-1) or after (1) the one that it shows.
func (h *history) recall(by int, draft *editor) {
	h.stash(draft)
	to := h.at + by
	if to < 0 || to > len(h.prompts) {
		return
	}
	h.at = to
	if to == len(h.prompts) {
		*draft = h.unsent
		return
	}
	*draft = h.prompts[to].copied()
}

// searches handles a key while the history is searched, and the one that begins it; false
// if the key is for others.
func (h *history) searches(k key, draft *editor) bool {
	if h.search == nil {
		if k.kind != keySearch {
			return false
		}
		h.stash(draft)
		h.search = &historySearch{at: len(h.prompts), from: h.at, before: draft.copied()}
		return true
	}
	s := h.search
	switch k.kind {
	case keyText:
		s.query += k.text
		s.at = min(s.at+1, len(h.prompts)) // The prompt that is shown may match still.
		h.older(draft)
	case keyBackspace:
		_, s.query = "", s.query[:max(len(s.query)-1, 0)]
		s.query = strings.ToValidUTF8(s.query, "")
		s.at = len(h.prompts)
		h.older(draft)
	case keySearch:
		h.older(draft)
	case keyEscape, keyInterrupt:
		*draft, h.at, h.search = s.before, s.from, nil
	case keyEnter:
		h.search = nil
	default:
		h.search = nil
		return false
	}
	return true
}

// older shows the next older prompt that matches.
func (h *history) older(draft *editor) {
	for i := h.search.at - 1; i >= 0; i-- {
		p := &h.prompts[i]
		if strings.Contains(strings.ToLower(p.text()), strings.ToLower(h.search.query)) {
			h.search.at, h.at, h.search.failed = i, i, false
			*draft = p.copied()
			return
		}
	}
	h.search.failed = true
}

// byRequest is the prompt that was sent with a request id.
func (h *history) byRequest(id string) (editor, bool) {
	i := slices.IndexFunc(h.prompts, func(p sentPrompt) bool { return p.request == id && id != "" })
	if i < 0 {
		return editor{}, false
	}
	return h.prompts[i].editor, true
}

// resent is the draft that a prompt of the log becomes again: as the person wrote it or, from
// elsewhere, as podd has it, where an @ that led to no file is text.
func (h *history) resent(b *block, sent item.Submitted) editor {
	if e, ok := h.byRequest(sent.RequestID); ok {
		return e.copied()
	}
	e := draftOf(sent.Segments, byPaste)
	if e.empty() {
		e.write(b.Text, byPaste) // Its submit is too far back.
		for _, i := range b.Images {
			e.put(depicts(i))
		}
	}
	return e
}
