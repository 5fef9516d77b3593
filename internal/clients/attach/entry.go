package attach

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"podd/internal/clients/view"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// lost says that the stream broke.
func (a *app) lost() {
	a.away = true
	a.log.Lost()
}

// receive shows a message of the stream.
func (a *app) receive(m *poddv1.StreamResponse) {
	a.away = false
	c := a.log.apply(m)
	a.view.block = max(a.view.block-a.log.forget(), 0)
	a.turn = a.log.Turn()
	a.activity.observe(a.log.doing(a.turn), a.now())
	if c.Entry != nil {
		a.entry(*c.Entry)
	}
	if c.CaughtUp {
		if !a.ready {
			a.ready, a.said = true, ""
			if a.arrived != "" {
				a.log.notice(dim, "· "+a.arrived)
			}
		}
		a.findPending()
		a.askStatus(true)
	}
}

// noticeEntry gives a notice of the end of a long turn.
func (a *app) noticeEntry(e item.Entry) {
	switch e.Kind.(type) {
	case item.TurnStarted:
		a.began = e.Time
	case item.TurnEnded:
		if !a.began.IsZero() && e.Time.Sub(a.began) >= longTurn {
			a.attract("the turn has ended")
		}
		a.began = time.Time{}
	}
}

// entry handles an entry's effects other than being shown.
func (a *app) entry(e item.Entry) {
	a.noticeEntry(e)
	answered := ""
	switch k := e.Kind.(type) {
	case item.TurnStarted:
		a.askStatus(false)
	case item.TurnEnded:
		a.calls.void(func(w *poddv1.Approval) bool { return w.GetTurn() == e.Turn }, a.prompt.draft.empty())
		a.askStatus(true)
	case item.ItemAdded:
		if r, ok := k.Item.(item.ToolResult); ok {
			answered = r.CallID
		}
	case item.ApprovalRequested:
		if a.ready {
			a.findPending()
		}
	case item.ApprovalResolved:
		answered = k.CallID
	}
	if answered != "" {
		a.calls.void(func(w *poddv1.Approval) bool { return w.GetCallId() == answered }, a.prompt.draft.empty())
	}
}

// usage is the size of the context and the cost so far.
type usage struct {
	tokens, window int64
	cost           float64
}

// parts are the usage on the state line.
func (u usage) parts() (parts []string) {
	switch {
	case u.window > 0:
		parts = append(parts, fmt.Sprintf("context %d%%", u.tokens*100/u.window))
	case u.tokens > 0:
		parts = append(parts, "context "+view.Count(u.tokens))
	}
	if u.cost > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", u.cost))
	}
	return parts
}

// askStatus asks podd for the pod's state, and with all also for its usage. One request
// at a time is enough.
func (a *app) askStatus(all bool) {
	if a.asking && !all || !a.ready {
		return
	}
	a.asking = true
	var pod *poddv1.Pod
	before, id, used, uses := a.pod, a.pod.GetId(), a.usage, a.setup
	a.call(func(ctx context.Context) error {
		resp, err := a.Client.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: id, Branch: all})
		pod = resp.GetPod()
		if err != nil || !all {
			return err
		}
		c, err := a.Client.Pods().GetContext(ctx, &poddv1.GetContextRequest{Pod: id})
		if err == nil {
			used.tokens, used.window = c.GetTokens(), c.GetWindow()
		}
		status, _ := a.Client.Admin().GetStatus(ctx, &poddv1.GetStatusRequest{})
		uses.learn(resp, c, status, a.short(pod.GetSpec().GetDir()))
		if s, err := a.Client.Pods().GetStats(ctx, &poddv1.GetStatsRequest{Pod: id}); err == nil {
			used.cost = s.GetCostUsd()
		}
		return nil
	}, func(err error) {
		a.asking = false
		if err != nil {
			return // The stream reports when podd cannot be reached.
		}
		if a.pod != before {
			a.askStatus(all) // The pod may have changed after podd answered.
			return
		}
		changed := !proto.Equal(pod.GetSpec(), before.GetSpec())
		a.pod, a.usage, a.setup = pod, used, uses
		switch {
		case changed && !all:
			a.askStatus(true)
		case all && !a.introduced && pod.GetLastSeq() == 0:
			a.introduce()
		}
		a.introduced = a.introduced || all
	})
}
