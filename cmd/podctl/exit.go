package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"podd/internal/clients/attach"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
)

// Exit codes of podctl.
const (
	// exitDone: success; for submit without -f: the prompt is queued.
	exitDone = 0
	// exitFailed: the command failed.
	exitFailed = 1
	// exitUsage: a wrong command line, or invalid input.
	exitUsage = 2
	// exitUnreachable: podd cannot be reached.
	exitUnreachable = 3
	// exitNotFound: the pod, entry or alert does not exist.
	exitNotFound = 4
	// exitTurn: the followed turn ended with an outcome other than finished, or waits for an approval.
	exitTurn = 5
	// exitDenied: the followed turn finished, and calls of it were denied.
	exitDenied = 6
	// exitInterrupted: the user stopped podctl; the turn keeps running.
	exitInterrupted = 130
)

// exitCode is the one place where an error becomes an exit code.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if _, ok := errors.AsType[interrupted](err); ok {
		return exitInterrupted
	}
	if _, ok := errors.AsType[turnError](err); ok {
		return exitTurn
	}
	if _, ok := errors.AsType[unansweredError](err); ok {
		return exitTurn
	}
	if _, ok := errors.AsType[deniedError](err); ok {
		return exitDenied
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	switch item.KindOf(err) {
	case item.KindInvalid:
		return exitUsage
	case item.KindUnavailable:
		return exitUnreachable
	case item.KindNotFound, item.KindOutOfRange:
		return exitNotFound
	}
	return exitFailed
}

// turnError is the end of a turn that did not finish.
type turnError struct {
	// turn is 0 if the prompt was withdrawn before its turn began.
	turn int64
	end  item.TurnEnded
}

// Error says how the turn ended and why.
func (e turnError) Error() string {
	if e.turn == 0 {
		return "the prompt was removed from the inbox before its turn started"
	}
	how := string(e.end.Outcome)
	switch e.end.Outcome {
	case item.OutcomeLimit:
		how = "was stopped by a limit"
	case item.OutcomeCancelled, item.OutcomeInterrupted:
		how = "was " + how
	}
	if e.end.Cause == "" {
		return fmt.Sprintf("turn %d %s", e.turn, how)
	}
	return fmt.Sprintf("turn %d %s: %s", e.turn, how, e.end.Cause)
}

// unansweredError is a call that waits for an approval, which podctl does not wait for.
type unansweredError struct {
	view.Approval
	// pod is the followed pod; subPod says that the call is of one below it.
	pod    string
	subPod bool
	// queued is the request id of a prompt whose turn has not begun.
	queued string
	// once is set if podd has ended, and dir is its state directory.
	once *onceOptions
	dir  string
}

// Error says how to answer.
func (e unansweredError) Error() string {
	pod, asks, dir := sanitize.Line(e.pod), sanitize.Line(e.Pod), sanitize.Line(e.dir)
	waits := fmt.Sprintf("turn %d waits for an answer to call %d", e.Turn, e.Call)
	if e.subPod {
		waits = fmt.Sprintf("sub-pod %s waits for an answer to call %d", asks, e.Call)
	}
	if e.Form != nil {
		return e.question(waits)
	}
	switch {
	case e.queued != "":
		return fmt.Sprintf("the prompt stays queued because %s: podctl approve %s %d, or remove the prompt: podctl inbox rm %s %s",
			waits, asks, e.Call, pod, sanitize.Line(e.queued))
	case e.once == nil:
		return fmt.Sprintf("%s: podctl approve %s %d, then podctl tail -f %s; --on-ask deny goes on without the call", waits, asks, e.Call, pod)
	case e.once.keep == "":
		return waits + ": allow it with a [[rule]] in config.toml, or go on without the call with --on-ask deny"
	}
	return fmt.Sprintf("%s: start podd --state-dir %s, then podctl --state-dir %s approve %s %d; or use --on-ask deny", waits, dir, dir, asks, e.Call)
}

// question says how to answer a question.
func (e unansweredError) question(waits string) string {
	command, dir := "podctl", sanitize.Line(e.dir)
	switch {
	case e.once != nil && e.once.keep == "":
		return waits + ": answer in a terminal, or go on without an answer with --on-ask deny"
	case e.once != nil:
		waits += ": start podd --state-dir " + dir
		command += " --state-dir " + dir
	}
	return fmt.Sprintf("%s: %s answer %s %d --choice N or TEXT, then %s tail -f %s; --on-ask deny goes on without it", waits, command, sanitize.Line(e.Pod), e.Call, command, sanitize.Line(e.pod))
}

// deniedError is the end of a turn that finished without some of its calls.
type deniedError struct {
	turn int64
	// denied are the results of these calls, a line each.
	denied []string
}

// Error names the first few calls.
func (e deniedError) Error() string {
	const most = 3
	named := strings.Join(e.denied[:min(most, len(e.denied))], "; ")
	if more := len(e.denied) - most; more > 0 {
		named += fmt.Sprintf("; and %d more", more)
	}
	what := "a call was"
	if len(e.denied) > 1 {
		what = fmt.Sprintf("%d calls were", len(e.denied))
	}
	return fmt.Sprintf("turn %d finished, but %s denied: %s", e.turn, what, named)
}

// interrupted is the error for a podctl that the user stopped; it says how to continue.
type interrupted string

// Error is the sentence.
func (e interrupted) Error() string { return string(e) }

// interruption replaces err with interrupted if the user stopped podctl: then that caused
// err, whatever it says.
func interruption(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if _, ok := errors.AsType[interrupted](err); ok {
		return err
	}
	if e, ok := errors.AsType[*attach.UnsentError](err); ok {
		return interrupted("interrupted; your draft is in " + e.Draft)
	}
	return interrupted("interrupted")
}
