package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"podd/internal/clients/attach"
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
	// exitTurn: the followed turn ended with an outcome other than finished.
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
