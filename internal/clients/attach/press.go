package attach

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"podd/internal/sanitize"
	"podd/internal/wire"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// press handles a key.
func (a *app) press(k key) {
	armed := a.armed
	a.armed, a.said = keyOther, ""
	if k.kind != keyTab {
		a.offered = nil
	}
	switch k.kind {
	case keyInterrupt:
		a.interrupt(armed == keyInterrupt)
	case keyEndOfInput:
		if a.written().empty() {
			a.quit = true
			return
		}
		a.written().press(key{kind: keyDelete})
	case keyCancel:
		a.cancel(armed == keyCancel)
	case keyAnswer:
		a.answering = len(a.questions) > 0 && !a.answering
	case keyEscape:
		if a.answering {
			a.answering = false
			a.said = "the call still waits; ^Y to answer"
		}
	case keyPlan:
		if !a.answering {
			a.plan = !a.plan
		}
	case keyTools:
		a.log.open = !a.log.open
	case keyTodo:
		a.toggleTasks()
	case keyRedraw:
		a.command = func() tea.Msg { return tea.ClearScreen() }
	case keyPageUp, keyPageDown, keyLive, keyUp, keyDown:
		a.scroll(k.kind)
	case keyPrevious, keyNext:
		a.recall(k.kind)
	case keyEnter:
		a.enter()
	case keyTab:
		a.complete()
	default:
		a.written().press(k)
	}
}

// written is the editor that keys write to.
func (a *app) written() *editor {
	if a.answering {
		return &a.answer
	}
	return &a.draft
}

func (a *app) interrupt(again bool) {
	switch {
	case !a.written().empty():
		a.written().clear()
	case again:
		a.quit = true
	default:
		a.armed = keyInterrupt
		a.said = "press ^C again to leave"
		if a.turn != 0 {
			a.said += fmt.Sprintf("; turn %d keeps running (^X cancels it)", a.turn)
		}
	}
}

// cancel cancels the running turn when the key is pressed twice.
func (a *app) cancel(again bool) {
	if a.turn == 0 {
		a.said = "no turn is running"
		return
	}
	if !again {
		a.armed = keyCancel
		a.said = fmt.Sprintf("press ^X again to cancel turn %d", a.turn)
		return
	}
	a.said = "cancelling the turn"
	a.call(func(ctx context.Context) error {
		_, err := a.Client.Pods().Cancel(ctx, &poddv1.CancelRequest{Pod: a.pod.GetId(), Reason: "cancelled by " + a.Name})
		return err
	}, func(err error) { a.told(err) })
}

// told shows the error of a request, if any.
func (a *app) told(err error) {
	a.said = ""
	if err != nil {
		a.log.notice(yellow, "! "+err.Error())
	}
}

// scroll scrolls the transcript.
func (a *app) scroll(k keyKind) {
	of, blocks, rows := a.layouts(), a.blockCount(), a.logRows()
	switch k {
	case keyPageUp:
		a.view.move(of, blocks, rows, -max(rows-1, 1))
	case keyPageDown:
		a.view.move(of, blocks, rows, max(rows-1, 1))
	case keyUp:
		a.view.move(of, blocks, rows, -1)
	case keyDown:
		a.view.move(of, blocks, rows, 1)
	case keyLive:
		a.view = scroll{}
	}
}

// mostRecalled is how many earlier prompts can be recalled.
const mostRecalled = 100

// recall brings an earlier prompt back.
func (a *app) recall(k keyKind) {
	if a.answering || len(a.history) == 0 {
		return
	}
	if k == keyPrevious {
		a.recalled = max(a.recalled-1, 0)
	} else {
		a.recalled = min(a.recalled+1, len(a.history))
	}
	a.draft.clear()
	if a.recalled < len(a.history) {
		a.draft = editor{cells: slices.Clone(a.history[a.recalled].cells)}
		a.draft.at = len(a.draft.cells)
	}
}

// enter sends the draft or the answer.
func (a *app) enter() {
	if a.answering {
		a.decide()
		return
	}
	if len(a.draft.segments()) == 0 {
		return
	}
	sent := a.draft
	a.draft.clear()
	a.history = append(a.history, sent)
	a.history = a.history[max(len(a.history)-mostRecalled, 0):]
	a.recalled = len(a.history)
	a.view = scroll{}
	a.said = "sending"
	var resp *poddv1.SubmitResponse
	plan := a.plan
	a.call(func(ctx context.Context) (err error) {
		resp, err = a.Client.Submit(ctx, &poddv1.SubmitRequest{
			Pod: a.pod.GetId(), RequestId: client.NewRequestID(), Segments: wire.SegmentsToProto(sent.segments()), ParseRefs: true,
			Planning: &poddv1.SubmitRequest_Plan{Plan: plan},
		})
		return err
	}, func(err error) {
		a.told(err)
		switch {
		case err != nil && a.draft.empty():
			a.draft = sent
		case resp.GetQueued():
			a.log.notice(dim, "· queued until the running turn ends")
		}
	})
}

// complete completes the @path before the cursor.
func (a *app) complete() {
	prefix, from, ok := a.draft.reference()
	if a.answering || !ok {
		return
	}
	var paths []string
	a.call(func(ctx context.Context) error {
		resp, err := a.Client.Pods().CompletePath(ctx, &poddv1.CompletePathRequest{Pod: a.pod.GetId(), Prefix: prefix})
		paths = resp.GetPaths()
		return err
	}, func(err error) {
		now, at, ok := a.draft.reference()
		if err != nil || !ok || now != prefix || at != from {
			return // Completion is silent, and the draft may have changed meanwhile.
		}
		a.completed(from, prefix, paths)
	})
}

func (a *app) completed(from int, prefix string, paths []string) {
	switch len(paths) {
	case 0:
		a.said = "no such path"
	case 1:
		path := paths[0]
		if !strings.HasSuffix(strings.TrimSuffix(path, `"`), "/") {
			path += " "
		}
		a.draft.complete(from, path)
	default:
		if common := commonPrefix(paths); len(common) > len(prefix) && strings.HasPrefix(common, prefix) {
			a.draft.complete(from, common)
		}
		a.offered = nil
		for _, path := range paths {
			a.offered = append(a.offered, "@"+sanitize.Line(path))
		}
	}
}

// commonPrefix is the common start of all texts, in whole characters.
func commonPrefix(list []string) string {
	common := list[0]
	for _, text := range list[1:] {
		for !strings.HasPrefix(text, common) {
			common = common[:len(common)-1]
		}
	}
	return strings.ToValidUTF8(common, "")
}
