package attach

import (
	"context"
	"fmt"

	"podd/pkg/client"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// press handles a key.
func (a *app) press(k key) {
	if k.kind == keySuspend {
		a.suspend()
		return
	}
	armed := a.armed
	a.pressed = a.now()
	a.armed, a.prompt.held, a.said = keyOther, keyOther, ""
	offered := a.prompt.offered
	if k.kind != keyTab {
		a.prompt.offered = nil
	}
	if a.confirmed(k) || !a.calls.answering && a.prompt.history.searches(k, &a.prompt.draft) || a.choosePath(k.kind) {
		return
	}
	defer a.offer()
	a.calls.face(a.prompt.draft.empty())
	switch k.kind {
	case keyInterrupt:
		a.leave(armed == keyInterrupt)
		a.calls.attend(a.prompt.draft.empty())
	case keyEndOfInput:
		if a.written().empty() {
			a.quit = true
			return
		}
		a.written().press(key{kind: keyDelete})
	case keyAnswer:
		a.calls.answering, a.calls.left = len(a.calls.questions) > 0, false
	case keyEscape:
		a.escape(len(offered) > 0, armed == keyEscape)
	case keyPlan:
		if !a.calls.answering {
			a.prompt.plan = !a.prompt.plan
		}
	case keyEdit:
		a.edit()
	case keyEnter:
		a.enter(false)
	case keySteer:
		a.enter(true)
	case keyTab:
		a.complete()
	default:
		switch {
		case a.calls.choose(k) || a.look(k.kind) || a.scroll(k.kind) || a.recall(k.kind):
		case a.calls.answering:
			a.calls.answer.press(k)
		default:
			a.prompt.press(k)
		}
	}
}

// look changes or takes what is shown; false if the key does neither.
func (a *app) look(k keyKind) bool {
	switch k {
	case keyTools:
		a.log.open = !a.log.open
	case keyTodo:
		a.toggleTasks()
	case keyCopy:
		a.copyAnswer()
	case keyOpen:
		a.open("")
	case keyRedraw:
		a.redraw()
	default:
		return false
	}
	return true
}

// written is the editor that keys write to.
func (a *app) written() *editor {
	if a.calls.answering {
		return &a.calls.answer
	}
	return &a.prompt.draft
}

// leave clears what is typed, which the history keeps, and leaves when the key is pressed again.
func (a *app) leave(again bool) {
	switch {
	case a.calls.answering && !a.calls.answer.empty():
		a.calls.answer.clear()
	case !a.calls.answering && !a.prompt.draft.empty():
		if a.prompt.history.keep(a.prompt.draft) {
			a.keep(a.prompt.draft, "")
		}
		a.prompt.draft.clear()
	case again:
		a.quit = true
	default:
		a.armed = keyInterrupt
		a.said = "press ^C again to leave"
		if a.turn != 0 {
			a.said += fmt.Sprintf("; turn %d keeps running (Esc interrupts it)", a.turn)
		}
	}
}

// begins says what a request does, until its answer comes.
func (a *app) begins(what string) { a.said, a.doing = what, what }

// over takes that back, and nothing that the view said since.
func (a *app) over() {
	if a.said == a.doing {
		a.said = ""
	}
}

// told shows the error of a request, if any.
func (a *app) told(err error) {
	a.over()
	if err != nil {
		a.log.notice(yellow, "! "+err.Error())
	}
}

// wheelLines is how far a notch of the wheel scrolls.
const wheelLines = 3

// scroll scrolls the transcript; false if the key does not. Arrows scroll while a question
// without options is answered.
func (a *app) scroll(k keyKind) bool {
	f, by := a, 0
	switch {
	case k == keyPageUp:
		by = -max(f.logRows()-1, 1)
	case k == keyPageDown:
		by = max(f.logRows()-1, 1)
	case k == keyWheelUp:
		by = -wheelLines
	case k == keyWheelDown:
		by = wheelLines
	case k == keyUp && a.calls.answering:
		by = -1
	case k == keyDown && a.calls.answering:
		by = 1
	case k == keyLive:
		a.view = scroll{}
		return true
	default:
		return false
	}
	a.view.move(f.layouts(), f.blockCount(), f.logRows(), by)
	return true
}

// recall moves the cursor between the rows of the draft, and beyond them brings an earlier
// prompt back; false if the key does neither.
func (a *app) recall(k keyKind) bool {
	by := 0
	switch k {
	case keyUp, keyPrevious:
		by = -1
	case keyDown, keyNext:
		by = 1
	default:
		return false
	}
	if a.calls.answering || k == keyUp && a.unqueue() {
		return true
	}
	if k == keyPrevious || k == keyNext || !a.prompt.draft.vertical(by, a.lead(), a.columns) {
		a.prompt.history.recall(by, &a.prompt.draft)
	}
	return true
}

// enter sends the draft or the answer. A steering prompt joins the running turn.
func (a *app) enter(steer bool) {
	if a.calls.answering {
		a.decide()
		return
	}
	if a.models.asking && a.models.tab || a.prompt.paths.asking && a.prompt.paths.tab || a.known.asking && a.names() {
		a.prompt.held = keyEnter
		if steer {
			a.prompt.held = keySteer
		}
		return
	}
	if len(a.prompt.draft.segments()) == 0 || a.answers() || a.obey() || a.runs() {
		return
	}
	a.submit(steer && a.turn != 0)
	a.calls.attend(a.prompt.draft.empty())
}

// submit sends the draft.
func (a *app) submit(steer bool) {
	sent := a.prompt.draft
	a.prompt.draft.clear()
	req := &poddv1.SubmitRequest{
		Pod: a.pod.GetId(), RequestId: client.NewRequestID(), Segments: wire.SegmentsToProto(sent.segments()), ParseRefs: true,
	}
	if steer {
		req.Mode = poddv1.SubmitMode_SUBMIT_MODE_STEER
	} else {
		req.Planning = &poddv1.SubmitRequest_Plan{Plan: a.prompt.plan}
	}
	a.prompt.history.add(sent, req.GetRequestId())
	a.keep(sent, req.GetRequestId())
	a.view = scroll{}
	a.begins("sending")
	var resp *poddv1.SubmitResponse
	a.send(func(ctx context.Context) (err error) {
		if err = a.bytesOf(ctx, req); err == nil {
			resp, err = a.Client.Submit(ctx, req)
		}
		return err
	}, func(err error) {
		a.told(err)
		switch {
		case err != nil && !a.prompt.giveBack(sent):
			a.log.notice(yellow, "! the prompt was not sent; Up recalls it")
		case resp.GetQueued() && steer:
			a.log.notice(dim, "· joins the turn at its next step")
		}
	})
}

// bytesOf gives a request the bytes of its pictures, which podd has from an earlier prompt.
func (a *app) bytesOf(ctx context.Context, req *poddv1.SubmitRequest) error {
	for _, s := range req.GetSegments() {
		i := s.GetImage()
		if i == nil {
			continue
		}
		data, err := a.Client.Image(ctx, i.GetImage().GetDigest())
		if err != nil {
			return err
		}
		i.Data, i.MediaType, i.Name = data, i.GetImage().GetMediaType(), i.GetImage().GetName()
	}
	return nil
}

// keep stores a prompt for later views.
func (a *app) keep(sent editor, request string) {
	file := pastFile(a.Env)
	if !a.Desk.History || !keeps(sent) {
		return
	}
	prompt, failed := pastPrompt{Time: a.now(), Dir: a.pod.GetSpec().GetDir(), Request: request, Parts: pastParts(sent)}, error(nil)
	a.inOrder(&a.kept, func(context.Context) error {
		failed = file.add(prompt)
		return nil
	}, func(error) {
		if failed != nil && !a.unkept {
			a.unkept = true
			a.log.notice(yellow, "! "+failed.Error())
		}
	})
}

// offer asks for what completes the draft.
func (a *app) offer() {
	if text := a.prompt.draft.text(); text == "/" || text == "?" {
		a.askPrompts() // A person may have written one meanwhile.
	}
	a.askModels()
	a.askPods()
	a.offerPaths(false)
}

// complete completes the command or the @path before the cursor.
func (a *app) complete() {
	if !a.calls.answering && !a.completeCommand() {
		a.offerPaths(true)
	}
}

// completed presses the Enter that waited for a completion, if that left nothing to choose.
func (a *app) completed(whole bool) {
	held := a.prompt.held
	if a.prompt.held = keyOther; whole && held != keyOther {
		a.enter(held == keySteer)
	}
}
