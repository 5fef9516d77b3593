package worker

import (
	"cmp"
	"context"
	"fmt"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
)

// Compaction says when a summary takes the place of older items in what is sent, and
// what stays. A zero field means its default.
type Compaction struct {
	// Trigger is the share of the model's window from which on it happens by itself;
	// default 0.85. A window that is not known triggers nothing until the endpoint
	// says that it is full.
	Trigger float64
	// KeepTokens is how much of the newest items stays as it is; default 20,000.
	KeepTokens int
	// Model writes the summary; empty means the pod's own. Where its window is too
	// small for the request, the pod's own is asked.
	Model string
	// ReadBackBytes is at most what comes back beside the summary, of the files in use and
	// the task list; 0 brings nothing back.
	ReadBackBytes int
}

func (c Compaction) withDefaults() Compaction {
	c.Trigger = cmp.Or(c.Trigger, 0.85)
	c.KeepTokens = cmp.Or(c.KeepTokens, 20_000)
	return c
}

// summaryInstruction asks for what a model needs to go on without the conversation.
const summaryInstruction = `The conversation so far is about to be replaced by a summary that you write now. Do not call tools. ` +
	`Write what is needed to go on: what the user asked for, in their words where it matters; what was decided and why; ` +
	`what was done, with paths, names and commands; what was found out; what failed; what is left to do, and the next step. ` +
	`Leave out what can be read again from files.`

// summaryHead begins the text that stands for the items.
const summaryHead = "[Summary of the conversation so far]\n"

// makeRoom compacts when the next request would nearly fill the model's window.
func (t *asker) makeRoom(ctx context.Context) error {
	window, tokens := t.j.now.Next.Window, t.j.now.Next.Tokens
	if window == 0 || float64(tokens) <= t.w.Compaction.Trigger*float64(window) {
		return nil
	}
	return t.compact(ctx, fmt.Sprintf("the next request would fill %d %% of the model's window", 100*tokens/window), window)
}

// compact lets a summary by the model stand for the older items. A summary that would not
// make the next request smaller is paid for and not stored, and the turn stops. window is
// what the model's window can't be more than; 0 when that is not known.
func (t *asker) compact(ctx context.Context, reason string, window int) error {
	n, r, err := t.compactable()
	if err != nil {
		return err
	}
	if n == 0 {
		return failed("CONTEXT", "the conversation is too large for the model and there is nothing in it to compact: %s", reason)
	}
	text, usage, err := t.summarize(ctx, r)
	if err != nil {
		return err
	}
	b := Batch{Kinds: []item.Kind{usage}}
	summary := item.SystemMessage{Origin: item.OriginCompaction, Text: summaryHead + text}
	var upTo item.Seq
	before, after, room := t.j.now.Next.Tokens, 0, 0
	err = t.j.look(func(s *fold.Context) {
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
		b.Kinds = append(b.Kinds, back...)
	}
	if err := t.j.commit(ctx, b); err != nil {
		t.j.owe(usage)
		return err
	}
	for _, note := range seen {
		note()
	}
	if after >= before {
		return failed("CONTEXT", "a summary does not make the conversation smaller: %d tokens with it, %d without (%s)", after, before, reason)
	}
	t.j.logger.Info("context compacted", "step", t.j.step, "items", n, "tokens", before, "left", t.j.now.Next.Tokens, "reason", reason)
	return nil
}

// compactable is how many of the first items a summary may stand for, and the request for
// that summary; 0 when nothing would be gained.
func (t *asker) compactable() (n int, r llm.Request, err error) {
	err = t.j.look(func(s *fold.Context) {
		if most, ok := s.CompactionPoint(t.w.Compaction.KeepTokens); ok {
			n, r = most, llm.Request(s.SummaryRequest(most, summaryInstruction))
		}
	})
	return n, r, err
}

// summarize asks the model that writes summaries.
func (t *asker) summarize(ctx context.Context, r llm.Request) (string, item.RequestUsage, error) {
	own := r.Setup.Model
	if t.w.Compaction.Model == "" || t.w.Compaction.Model == own {
		return t.writeSummary(ctx, r)
	}
	other := r
	other.Setup.Model = t.w.Compaction.Model
	text, usage, err := t.writeSummary(ctx, other)
	if llm.ClassOf(err) != llm.ClassContext {
		return text, usage, err
	}
	t.j.logger.Warn("the conversation is too large for the model that writes summaries; the pod's own is asked", "model", t.w.Compaction.Model, "own", own)
	return t.writeSummary(ctx, r)
}

// writeSummary sends a request for a summary.
func (t *asker) writeSummary(ctx context.Context, r llm.Request) (string, item.RequestUsage, error) {
	body, err := t.w.Model.Body(r)
	if err != nil {
		return "", item.RequestUsage{}, failed("REQUEST", "the request for a summary could not be built: %v", err)
	}
	a, err := t.send(ctx, body, nil)
	if a.timeline == nil {
		return "", item.RequestUsage{}, err
	}
	a.asked = r.Setup.Model
	usage := a.usage(t.j.step)
	usage.Purpose = item.PurposeCompaction
	if err == nil && a.text == "" {
		err = &llm.Error{Class: llm.ClassProtocol, Message: "the model was asked for a summary and wrote none"}
	}
	if err != nil {
		t.j.owe(usage)
	}
	return a.text, usage, err
}

// Compact lets a summary stand for the older items of a pod that is idle.
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
			"there is nothing to compact: the conversation is not larger than what is kept as it is")
	}
	err = t.asker.compact(ctx, "asked for by a client", now.Next.Window)
	if len(t.j.owed) == 0 {
		return err
	}
	if unbilled := t.j.commit(context.WithoutCancel(ctx), Batch{}); unbilled != nil {
		t.j.logger.Warn("what a summary cost could not be stored", "error", unbilled)
	}
	return err
}
