package worker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
)

// Compaction says when a summary replaces older items in requests, and what stays. A zero
// field means its default.
type Compaction struct {
	// Trigger is the share of the model's window from which on podd compacts by itself;
	// default 0.85. An unknown window triggers nothing until the endpoint says that it is
	// full.
	Trigger float64
	// KeepTokens is how much of the newest items stays unchanged; default 20,000.
	KeepTokens int
	// Model writes the summary; empty means the pod's own. If its window is too small for
	// the request, the pod's own is used.
	Model item.ModelRef
	// ReadBackBytes bounds what is added besides the summary: the files in use and the task
	// list; 0 adds nothing.
	ReadBackBytes int
}

func (c Compaction) withDefaults() Compaction {
	c.Trigger = cmp.Or(c.Trigger, 0.85)
	c.KeepTokens = cmp.Or(c.KeepTokens, 20_000)
	return c
}

// summaryInstruction asks for what a model needs to continue without the conversation.
const summaryInstruction = `Write a summary that replaces the conversation so far. Do not call tools. ` +
	`Include what the work needs to continue: what the user asked for, in their words where it matters; what was decided and why; ` +
	`what was done, with paths, names and commands; what you found out; what failed; what is left to do, and the next step. ` +
	`Leave out what can be read again from files.`

// summaryHead begins the text that replaces the items.
const summaryHead = "[Summary of the conversation so far]\n"

// makeRoom compacts when the next request would nearly fill the model's window.
func (t *asker) makeRoom(ctx context.Context) error {
	window, tokens := t.j.now.Next.Window, t.j.now.Next.Tokens
	if window == 0 || float64(tokens) <= t.w.Compaction.Trigger*float64(window) {
		return nil
	}
	return t.summarizeIn(ctx, fmt.Sprintf("the next request would fill %d %% of the context window", 100*tokens/window), window)
}

// summarizeIn compacts in a turn, and offers the tool that looks behind the summary.
func (t *asker) summarizeIn(ctx context.Context, reason string, window int) error {
	if err := t.compact(ctx, reason, window); err != nil {
		return err
	}
	t.w.Fit(!t.j.turn.NoQuestions, t.j.now.Next.Items)
	return t.setUp(ctx)
}

// compact replaces the older items by the model's summary. A summary that would not make
// the next request smaller is paid for and not stored, and the turn stops. window is an
// upper bound of the model's window; 0 if unknown.
func (t *asker) compact(ctx context.Context, reason string, window int) error {
	n, r, err := t.compactable()
	if err != nil {
		return err
	}
	if n == 0 {
		return failed("CONTEXT", "the conversation is too large for %s: use a model with a larger window, or go on in a new pod; nothing in it can be compacted, and %s", t.w.Router.Full(t.model), reason)
	}
	text, usage, err := t.summarize(ctx, r)
	if err != nil {
		return err
	}
	b := Batch{Kinds: []item.Kind{usage}}
	summary := item.SystemMessage{Origin: item.OriginCompaction, Text: summaryHead + text}
	var upTo item.Seq
	before, after, room := t.j.now.Next.Tokens, 0, 0
	err = t.j.view(func(s *fold.Context) {
		upTo, after = s.SeqOf(n), s.TokensWith(n, summary)
		room = s.BytesOf(readBackTokens(window, before-after))
	})
	if err != nil {
		t.j.owe(usage)
		return err
	}
	var seen []func()
	if after < before {
		var back []item.Kind
		back, seen = t.readBack(ctx, n, upTo, room)
		b.Kinds = append(b.Kinds, item.Compaction{Summary: summary, UpTo: upTo, Reason: reason})
		left := t.j.now.Next.Items[n:]
		b.Kinds = slices.Concat(b.Kinds, back, t.j.answerSchema(left), t.j.state(left))
	}
	if err := t.j.commit(ctx, b); err != nil {
		t.j.owe(usage)
		return err
	}
	for _, note := range seen {
		note()
	}
	if after >= before {
		return failed("CONTEXT", "the conversation is too large for %s: use a model with a larger window, or go on in a new pod; a summary would not shrink it: %d tokens with it, %d without (%s)", t.w.Router.Full(t.model), after, before, reason)
	}
	t.j.logger.Info("context compacted", "step", t.j.step, "items", n, "tokens", before, "left", t.j.now.Next.Tokens, "reason", reason)
	return nil
}

// compactable is how many of the first items a summary may replace, and the request for
// that summary; 0 if nothing would be gained.
func (t *asker) compactable() (n int, r llm.Request, err error) {
	err = t.j.view(func(s *fold.Context) {
		if most, ok := s.CompactionPoint(t.w.Compaction.KeepTokens); ok {
			n, r = most, t.w.Sending.request(s.SummaryRequest(most, summaryInstruction))
		}
	})
	return n, r, err
}

// summarize requests the summary from the model for summaries.
func (t *asker) summarize(ctx context.Context, r llm.Request) (string, item.RequestUsage, error) {
	own := r.Setup.ModelRef()
	if t.w.Compaction.Model == (item.ModelRef{}) {
		return t.writeSummary(ctx, r)
	}
	setup := r.Setup
	setup.Options = item.Options{}
	setup, err := t.w.addressed(ctx, t.w.Compaction.Model, setup, item.Setup{})
	if err != nil {
		return "", item.RequestUsage{}, err
	}
	if setup.ModelRef() == own {
		return t.writeSummary(ctx, r)
	}
	other := r
	other.Setup = setup
	text, usage, err := t.writeSummary(ctx, other)
	if llm.ClassOf(err) != llm.ClassContext {
		return text, usage, err
	}
	t.j.logger.Warn("the conversation is too large for the summary model; asking the pod's own model", "model", setup.ModelRef(), "own", own)
	return t.writeSummary(ctx, r)
}

// writeSummary sends a request for a summary, twice if the first answer has no text.
func (t *asker) writeSummary(ctx context.Context, r llm.Request) (string, item.RequestUsage, error) {
	m, err := t.w.Router.At(r.Setup.Endpoint)
	if err != nil {
		return "", item.RequestUsage{}, err
	}
	body, err := m.Body(r)
	if err != nil {
		return "", item.RequestUsage{}, failed("REQUEST", "cannot build the request for a summary: %v", err)
	}
	for first := true; ; first = false {
		a, err := t.send(ctx, m, llm.Body{body}, nil)
		if a.timeline == nil {
			return "", item.RequestUsage{}, err
		}
		a.asked, a.terms = r.Setup.ModelRef(), t.w.terms(r.Setup)
		usage := a.usage(t.j.step)
		usage.Purpose = item.PurposeCompaction
		isEmpty := err == nil && strings.TrimSpace(a.text) == ""
		if isEmpty {
			err = &llm.Error{Class: llm.ClassNoAnswer, Message: fmt.Sprintf("%s sent %s instead of a summary, also when asked again; use another model", a.asked, a.sent())}
		}
		if err != nil {
			t.j.owe(usage)
		}
		if !isEmpty || !first {
			return a.text, usage, err
		}
	}
}

// Compact replaces the older items of an idle pod by a summary.
func (w *Worker) Compact(ctx context.Context, log Log, now Now) error {
	t := w.newRun(ctx, log, now, Turn{})
	defer t.j.stopWaiting(nil)
	t.j.clock = newWorkClock(w.Limits.MaxTime, func(error) {}, w.Working)
	defer t.j.clock.stop()
	n, _, err := t.asker.compactable()
	if err != nil {
		return err
	}
	if n == 0 {
		return item.Errorf(item.KindPrecondition, "NOTHING_TO_COMPACT",
			"nothing to compact: the whole conversation is within the part that compaction keeps")
	}
	err = t.asker.compact(ctx, "requested by a client", now.Next.Window)
	if len(t.j.owed) == 0 {
		return err
	}
	if unbilled := t.j.commit(context.WithoutCancel(ctx), Batch{}); unbilled != nil {
		t.j.logger.Warn("cannot store the cost of a summary", "error", unbilled)
	}
	return err
}
