package attach

import (
	"context"
	"fmt"

	"podd/internal/view"
	"podd/internal/wire"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// lost says that the stream broke.
func (a *app) lost() { a.away, a.log.stale = true, true }

// take shows a message of the stream.
func (a *app) take(m *poddv1.StreamResponse) {
	a.away = false
	switch k := m.GetKind().(type) {
	case *poddv1.StreamResponse_Entry:
		a.entry(wire.EntryFromProto(k.Entry))
	case *poddv1.StreamResponse_Delta:
		a.log.delta(wire.DeltaFromProto(k.Delta))
	case *poddv1.StreamResponse_InFlight:
		a.log.inFlight(wire.InFlightFromProto(k.InFlight))
	case *poddv1.StreamResponse_CaughtUp:
		if a.log.stale {
			a.log.void()
		}
		if !a.ready {
			a.ready, a.said = true, ""
		}
		a.look()
		a.askStatus(true)
	}
}

// entry shows an entry of the log.
func (a *app) entry(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.TurnStarted:
		a.turn = e.Turn
		a.askStatus(false)
	case item.TurnEnded:
		a.ended(e.Turn, k)
	case item.ItemAdded:
		a.item(k.Item)
	case item.ToolStarted:
		a.log.callState(k.CallID, "running")
	case item.ApprovalRequested:
		a.log.callState(k.CallID, "waits for an answer")
		if a.ready {
			a.look()
		}
	case item.ApprovalResolved:
		a.resolved(k)
	case item.AlertRaised:
		if !k.Alert.Repeats() {
			a.alert(k.Alert)
		}
	case item.Withdrawn:
		a.log.notice(dim, "· a prompt that waited was taken back")
	case item.Compaction:
		a.log.notice(dim, "· what came before is sent to the model as a summary from now on")
	case item.Rewind:
		a.log.notice(yellow, fmt.Sprintf("! history goes on from entry %d; what came after it counts no more", k.To))
	case item.Purged:
		a.log.notice(dim, "· older entries were removed: "+k.Reason)
	}
}

// item shows an item of the conversation.
func (a *app) item(it item.Item) {
	switch it := it.(type) {
	case item.UserMessage:
		a.log.message(blockUser, it.Text)
	case item.AssistantMessage:
		a.log.message(blockAnswer, it.Text)
	case item.Reasoning:
		a.log.message(blockThought, it.Text)
	case item.SystemMessage:
		if it.Origin == item.OriginNote || it.Origin == item.OriginInterceptor {
			a.log.notice(plain, "· "+it.Origin+": "+it.Text)
		}
	case item.ToolCall:
		a.log.called(it)
	case item.ToolResult:
		a.log.result(it)
		a.void(func(w *poddv1.Approval) bool { return w.GetCallId() == it.CallID })
	}
}

// ended shows how a turn ended.
func (a *app) ended(turn int64, k item.TurnEnded) {
	a.turn = 0
	a.log.void()
	clear(a.log.calls)
	a.void(func(w *poddv1.Approval) bool { return w.GetTurn() == turn })
	text := fmt.Sprintf("── turn %d %s", turn, k.Outcome)
	if k.Usage.Input+k.Usage.Output > 0 {
		text += ", " + view.Tokens(k.Usage)
	}
	s := dim
	if k.Outcome != item.OutcomeFinished {
		s = yellow
		if k.Cause != "" {
			text += ": " + k.Cause
		}
	}
	a.log.notice(s, text)
	if a.ready {
		a.askStatus(true)
	}
}

// resolved shows how a question was answered.
func (a *app) resolved(k item.ApprovalResolved) {
	a.void(func(w *poddv1.Approval) bool { return w.GetCallId() == k.CallID })
	if !k.Approved {
		// The call's result says by whom and why.
		a.log.callState(k.CallID, "denied")
		return
	}
	text := "· approved"
	a.log.callState(k.CallID, "approved")
	if k.By != "" {
		text += " by " + k.By
	}
	if k.Reason != "" {
		text += ": " + k.Reason
	}
	a.log.notice(dim, text)
}

// alert shows an alert.
func (a *app) alert(al item.Alert) {
	s := yellow
	switch al.Level {
	case item.LevelError:
		s = red
	case item.LevelInfo:
		s = dim
	}
	a.log.notice(s, "! "+view.AlertText(al))
}

// usage is how full the context is and what the pod used.
type usage struct {
	tokens, window int64
	cost           float64
}

// askStatus asks podd how the pod is, and with all also what it used. One question at a
// time is enough.
func (a *app) askStatus(all bool) {
	if a.asking && !all || !a.ready {
		return
	}
	a.asking = true
	var pod *poddv1.Pod
	used := a.usage
	a.call(func(ctx context.Context) error {
		resp, err := a.Client.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: a.pod.GetId()})
		pod = resp.GetPod()
		if err != nil || !all {
			return err
		}
		if c, err := a.Client.Pods().GetContext(ctx, &poddv1.GetContextRequest{Pod: a.pod.GetId()}); err == nil {
			used.tokens, used.window = c.GetTokens(), c.GetWindow()
		}
		if s, err := a.Client.Pods().GetStats(ctx, &poddv1.GetStatsRequest{Pod: a.pod.GetId()}); err == nil {
			used.cost = s.GetCostUsd()
		}
		return nil
	}, func(err error) {
		a.asking = false
		// Whether podd is there the stream tells.
		if err == nil {
			a.pod, a.usage = pod, used
		}
	})
}
