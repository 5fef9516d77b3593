package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"podd/pkg/item"
)

// Recovers finds the outcome of a call that was running when podd ended. The next podd calls find before the
// turn goes on, with the arguments, the id and the [Invocation.Key] that Run got. If podd is killed again, find
// is called again: it changes nothing. It returns
//
//   - the result and [item.RecoveryFound] for a call that has ended,
//   - [item.RecoveryNoEffect], with an Output that says so, for one that had no effect,
//   - [item.RecoveryUnknown] or an error for any other; see Reconcile. An empty summary becomes one that
//     says that the call may have taken effect.
//
// Like Run it waits for what still runs, and returns soon after ctx ends. Without this option or Repeats the
// outcome is unknown.
func Recovers[A any](find func(context.Context, *Invocation, A) (out Output, how item.Recovery, err error)) Option[A] {
	return func(t *typed[A]) { t.find = find }
}

// Lost is a call that podd's end interrupted, and whose outcome its tool does not know.
type Lost struct {
	// Pod is the pod's id, Turn the turn's number.
	Pod  string
	Turn int64
	// CallID is unique in the pod's log; see [item.ToolCall.Key] for Key.
	CallID, Key string
	// Tool has run, or was about to, with Arguments since Began.
	Tool, Arguments string
	Began           time.Time
}

// Digest binds an answer to the call and its arguments: 64 hexadecimal digits.
func (l Lost) Digest() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{l.Key, l.Tool, l.Arguments}, "\x00")))
	return hex.EncodeToString(sum[:])
}

// Reconcile finds out how a lost call ended. It changes nothing: podd may ask again. The Recovery is empty
// if it knows nobody to ask about such calls. An error says, as the rest of a sentence, why the outcome stays
// unknown; it is ErrGoesOn if podd stops before the answer.
type Reconcile func(ctx context.Context, call Lost) (Output, item.Recovery, error)

// Repeater is a Tool that says whether its calls may run again after a kill. New's and
// NewForeign's tools are Repeaters.
type Repeater interface {
	Tool
	// Repeats says that a call may run again with the same key: it changes nothing but what its result
	// records, or whoever it reaches does it once. One that podd's end interrupted is decided on again,
	// and runs again.
	Repeats() bool
}

// Repeats makes the calls of a tool run again; see Repeater.
func Repeats[A any]() Option[A] { return func(t *typed[A]) { t.repeats = true } }

// Repeats is as the option said.
func (t *typed[A]) Repeats() bool { return t.repeats }

// Recover decodes as strictly as Run.
func (t *typed[A]) Recover(ctx context.Context, call *Invocation) (out Output, how item.Recovery, err error) {
	if t.find == nil {
		return Output{}, item.RecoveryUnknown, nil
	}
	args, err := t.decode(call.Arguments)
	if err != nil {
		return Output{}, item.RecoveryUnknown, err
	}
	return t.find(ctx, call, args)
}
