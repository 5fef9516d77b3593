package transcript

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"podd/pkg/item"
)

// entry takes an entry of the log.
func (t *Transcript) entry(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.Submitted:
		m := attached(k)
		t.put(t.add(Block{ID: userID(k.RequestID), Kind: User, Seq: e.Seq, State: Queued, Text: typed(m), Images: ImagesOf(m)}))
	case item.TurnStarted:
		t.turn, t.claimed = e.Turn, slices.Clone(k.RequestIDs)
	case item.Promoted:
		t.claimed = append(t.claimed, k.RequestIDs...)
	case item.Withdrawn:
		t.drop(func(b *block) bool {
			return b.State == Queued && slices.ContainsFunc(k.RequestIDs, func(id string) bool { return b.ID == userID(id) })
		})
		t.notice(e, CodeWithdrawn, "a queued prompt was removed")
	case item.ItemAdded:
		t.item(e, k.Item)
	case item.ToolStarted:
		b := t.call(e.Turn, k.CallID, k.Tool)
		b.State, b.Call.Arguments, b.Call.Question = Running, k.Arguments, Question{}
		t.put(b)
	case item.ApprovalRequested:
		t.asked(e, k)
	case item.ApprovalResolved:
		t.resolved(e, k)
	case item.AlertRaised:
		t.alert(e, k.Alert)
	case item.Recovered:
		// The turn repeats its step, perhaps with the same words.
		t.lost = true
		t.hide()
		t.notice(e, CodeRecovered, "the turn resumes: "+k.Reason)
	case item.TurnEnded:
		t.ended(e, k)
	case item.Compaction:
		t.notice(e, CodeCompaction, "the conversation above is sent to the model as a summary from now on")
	case item.Rewind:
		t.notice(e, CodeRewind, fmt.Sprintf("rewound to entry %d; the model no longer sees later entries", k.To))
	case item.Purged:
		t.notice(e, CodePurged, "older entries were removed: "+k.Reason)
	case item.Restore:
		if k.Ended {
			t.notice(e, CodeRestore, restoredText(k))
		}
	case item.WingEntry:
		if k.Line != "" {
			t.notice(e, CodeWing, k.Line)
		}
	case item.Setup, item.RequestUsage, item.Prune, item.Note, item.Job, item.Checkpoint, item.UnknownKind:
		// These are not part of the conversation. A note, such as the one about the end of a
		// job, is shown when the model gets it; the result of its call reports the start of a
		// job.
	}
}

// restoredText says what a restore did.
func restoredText(k item.Restore) string {
	text := fmt.Sprintf("changes of files were taken back: %s changed", paths(k.Changed))
	if n := int64(len(k.Kept)); n > 0 {
		text += fmt.Sprintf(", %s kept, because somebody changed them since", paths(n))
	}
	return text
}

func paths(n int64) string {
	if n == 1 {
		return "1 path"
	}
	return fmt.Sprintf("%d paths", n)
}

// item takes an item of the conversation.
func (t *Transcript) item(e item.Entry, it item.Item) {
	switch it := it.(type) {
	case item.UserMessage:
		id := fmt.Sprintf("e%d", e.Seq)
		if len(t.claimed) > 0 {
			id, t.claimed = userID(t.claimed[0]), t.claimed[1:]
		}
		t.user(e, id, typed(it), ImagesOf(it))
	case item.AssistantMessage:
		t.message(e, Answer, it.Text)
	case item.Reasoning:
		t.message(e, Thought, it.Text)
	case item.SystemMessage:
		if it.Origin != item.OriginState && it.Origin != item.OriginAnswerSchema { // The day and the like are for the model.
			t.put(t.add(Block{
				ID: fmt.Sprintf("e%d", e.Seq), Kind: Notice, Seq: e.Seq, Turn: e.Turn, State: Done, Code: it.Origin, Text: it.Text, Images: ImagesOf(it),
			}))
		}
	case item.ToolCall:
		if b := t.finished(e.Turn, Tool); b != nil {
			t.drop(func(other *block) bool { return other == b })
		}
		b := t.call(e.Turn, it.CallID, it.Name)
		b.Seq, b.Call.Arguments = e.Seq, it.Arguments
		t.put(b)
	case item.ToolResult:
		b := t.call(e.Turn, it.CallID, it.Tool)
		b.State, b.Call.Question = Done, Question{}
		if it.IsError {
			b.State = Failed
		}
		b.Text, b.Detail, b.text, b.Call.DurationMS, b.Call.Diffs = it.Summary+it.Recovery.Remark(), it.Content, strings.Builder{}, it.DurationMS, it.Diffs
		b.Images = ImagesOf(it)
		t.put(b)
	}
}

func userID(requestID string) string { return "s:" + requestID }

// user shows a message of the user in its place in the conversation.
func (t *Transcript) user(e item.Entry, id, text string, images []Image) {
	t.put(t.add(Block{ID: id, Kind: User, Seq: e.Seq, Turn: e.Turn, State: Done, Text: text, Images: images}))
}

// message takes a finished message, which replaces the live one. A message without text,
// such as reasoning that an endpoint only sends encrypted, gets no block.
func (t *Transcript) message(e item.Entry, kind Kind, text string) {
	b := t.finished(e.Turn, kind)
	if text == "" {
		t.drop(func(other *block) bool { return other == b })
		return
	}
	if b == nil {
		b = t.add(Block{ID: fmt.Sprintf("e%d", e.Seq), Kind: kind, Turn: e.Turn})
	}
	b.Seq, b.State, b.Text, b.text = e.Seq, Done, text, strings.Builder{}
	t.put(b)
}

func callID(id string) string { return "c:" + id }

// call is a tool call without a result. It is created if the log was not read from its
// beginning.
func (t *Transcript) call(turn int64, id, tool string) *block {
	b := t.find(func(b *block) bool { return b.Kind == Tool && b.open() && !b.live() && b.Call.ID == id })
	if b == nil {
		b = t.add(Block{ID: callID(id), Kind: Tool, Turn: turn, State: ToRun, Call: Call{ID: id}})
	}
	if tool != "" {
		b.Call.Tool = tool
	}
	return b
}

// asked says that a call waits for a person.
func (t *Transcript) asked(e item.Entry, k item.ApprovalRequested) {
	b := t.call(e.Turn, k.CallID, k.Tool)
	b.State, b.Call.Arguments = Asks, k.Arguments
	files := 0
	for _, p := range k.Previews {
		if !p.Runs {
			files++
		}
	}
	b.Call.Question = Question{
		Text: k.Question, Digest: hex.EncodeToString([]byte(k.Digest)), CallSeq: b.Seq, Expires: k.Expires,
		Files: files, Runs: len(k.Previews) - files, Form: k.Form != nil,
	}
	t.put(b)
}

// resolved says how a question was answered. A denied call gets its result next, one with a form goes on.
func (t *Transcript) resolved(e item.Entry, k item.ApprovalResolved) {
	if b := t.find(func(b *block) bool { return b.State == Asks && b.Call.ID == k.CallID }); b != nil {
		b.State, b.Call.Question = ToRun, Question{}
		if k.Key != "" {
			b.State = Running
		}
		t.put(b)
	}
	code := CodeDenied
	if k.Approved {
		code = CodeApproved
	}
	text := k.How()
	if k.Key == "" {
		text = code
		if k.By != "" {
			text += " by " + k.By
		}
		if k.Reason != "" {
			text += ": " + k.Reason
		}
	}
	t.notice(e, code, text)
}

// alert shows an alert, unless another entry reports the same.
func (t *Transcript) alert(e item.Entry, a item.Alert) {
	if !a.Repeats() {
		t.put(t.add(Block{
			ID: fmt.Sprintf("e%d", e.Seq), Kind: Alert, Seq: e.Seq, Turn: e.Turn, State: Done, Text: a.Text,
			Alert: AlertInfo{a.Seq, a.Level, a.Source, a.Count},
		}))
	}
}

func (t *Transcript) notice(e item.Entry, code, text string) {
	t.put(t.add(Block{ID: fmt.Sprintf("e%d", e.Seq), Kind: Notice, Seq: e.Seq, Turn: e.Turn, State: Done, Code: code, Text: text}))
}

// ended ends the turn and its unfinished blocks.
func (t *Transcript) ended(e item.Entry, k item.TurnEnded) {
	t.drop((*block).live)
	// A turn that ends before its first request has no message of the user.
	for _, id := range t.claimed {
		if b := t.find(func(b *block) bool { return b.State == Queued && b.ID == userID(id) }); b != nil {
			t.user(item.Entry{Seq: b.Seq, Turn: e.Turn}, b.ID, b.Text, b.Images)
		}
	}
	for _, b := range t.blocks {
		if b.Kind == Tool && b.open() {
			b.State, b.Call.Question = Failed, Question{}
			t.put(b)
		}
	}
	t.turn, t.claimed = 0, nil
	t.put(t.add(Block{
		ID: fmt.Sprintf("e%d", e.Seq), Kind: End, Seq: e.Seq, Turn: e.Turn, State: Done, Text: k.Cause,
		End: Ending{k.Outcome, k.Reason, k.Steps, Usage(k.Usage)},
	}))
}
