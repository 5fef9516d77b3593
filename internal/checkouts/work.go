package checkouts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/internal/workspace/checkout"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// work is done on the checkout of a pod of which nothing runs.
type work func(ctx context.Context, p *pod.Idle, r *checkout.Record) error

// alone does work on the checkout of a pod while nothing of the pod runs, nor of others in the checkout. then is what
// a person does later.
func (w *Checkouts) alone(ctx context.Context, idOrName, then string, do work) error {
	return w.Host.Alone(ctx, idOrName, then, func(ctx context.Context, p *pod.Idle) error {
		r, err := w.at(p.Pod)
		if err != nil {
			return err
		}
		pods, err := w.Host.List(ctx, "")
		if err != nil {
			return err
		}
		for _, other := range pods {
			if other.ID != p.Pod.ID && atWork(other) && slices.ContainsFunc(other.Spec.Writable(), r.Has) {
				return item.Errorf(item.KindPrecondition, "BUSY", "pod %s is at work in the checkout %s too: wait for its end or cancel it", other.Name, r.Dir())
			}
		}
		return do(ctx, p, r)
	})
}

// Land brings what a pod did in its checkout to a branch of the person's, while the pod does
// nothing else; empty means the branch that is checked out.
func (w *Checkouts) Land(ctx context.Context, idOrName, into, message string) (checkout.Landed, error) {
	var out checkout.Landed
	err := w.alone(ctx, idOrName, "land it", func(ctx context.Context, p *pod.Idle, r *checkout.Record) (err error) {
		out, err = w.Git.Land(ctx, r, into, message)
		if out.Says != "" {
			p.Raise(item.LevelWarn, "checkout", out.Says)
		}
		return err
	})
	if err != nil {
		return checkout.Landed{}, err
	}
	return out, nil
}

// Checked is the result of a check.
type Checked struct {
	// Passed says that the command ended with status 0. Summary says how it ended, in a line, Output
	// what it printed.
	Passed          bool
	Summary, Output string
	// Seq is the note with the result in the pod's log.
	Seq item.Seq
}

// How long a check may run.
const (
	checkTime = 20 * time.Minute
	mostCheck = time.Hour
)

// mostNoted bounds the output of a check in its note, in bytes: the end of it.
const mostNoted = 4 << 10

// Check runs a command in a pod's checkout as its own commands run, while the pod does nothing else.
// A note with the result joins the conversation at the next turn.
func (w *Checkouts) Check(ctx context.Context, idOrName, command string, seconds int) (Checked, error) {
	if seconds == 0 {
		seconds = int(checkTime.Seconds())
	}
	var out Checked
	if seconds < 0 || seconds > int(mostCheck.Seconds()) || strings.TrimSpace(command) == "" {
		return out, item.Errorf(item.KindInvalid, "BAD_CHECK", "a check is a command, and may run for 1 to %d seconds", int(mostCheck.Seconds()))
	}
	client := ctx
	err := w.alone(ctx, idOrName, "check it", func(_ context.Context, p *pod.Idle, _ *checkout.Record) error {
		// It ends with the request, with podctl cancel, and when podd stops.
		running, cancel := p.Cancellable(client)
		defer cancel()
		ground, done, err := p.Look()
		if err != nil {
			return err
		}
		defer done()
		result, err := ground.Check(running, command, seconds)
		if running.Err() != nil {
			return item.Errorf(item.KindPrecondition, "CHECK_CANCELLED", "the check of pod %s was cancelled", idOrName)
		}
		if err != nil {
			return err
		}
		out = Checked{Passed: !result.IsError, Summary: result.Summary, Output: result.Content}
		out.Seq, err = p.Note(out.note(command))
		return err
	})
	if err != nil {
		return Checked{}, err
	}
	return out, nil
}

// note tells the model of a check.
func (c Checked) note(command string) item.Note {
	verdict, outcome := "passed", item.OutcomeFinished
	if !c.Passed {
		verdict, outcome = "failed", item.OutcomeFailed
	}
	end := c.Output[max(len(c.Output)-mostNoted, 0):]
	text := fmt.Sprintf("The check %q %s (%s).\n%s", command, verdict, c.Summary, end)
	return item.Note{Text: strings.ToValidUTF8(strings.TrimSpace(text), ""), Check: outcome}
}
