package subpods

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/tool"
)

const waitDescription = `Wait for pods that you started in the background; their answers come as letters. ` +
	`If you end your turn instead, the letter begins your next one.`

type waitArguments struct {
	Pods       []string `json:"pods,omitempty" jsonschema:"default all at work"`
	Any        bool     `json:"any,omitempty" jsonschema:"waits for one of them only"`
	MaxSeconds int      `json:"max_seconds,omitempty"`
}

func (a *waitArguments) check() error {
	if a.MaxSeconds < 0 {
		return errors.New("max_seconds can't be below 0")
	}
	return nil
}

// waitTool makes the wait_for tool.
func (s *spawner) waitTool() tool.Tool {
	return tool.New(pod.WaitTool, waitDescription, s.waitFor, tool.Validate((*waitArguments).check),
		tool.Touches(func(waitArguments) tool.Access { return tool.Access{Confined: true, Obeys: true} }),
		tool.Recovers(func(ctx context.Context, call *tool.Invocation, args waitArguments) (tool.Output, item.Recovery, error) {
			out, err := s.waitFor(ctx, call, args)
			return out, item.RecoveryFound, err
		}))
}

// waitFor waits until sub-pods in the background have ended, from the time that the log says the call began.
func (s *spawner) waitFor(ctx context.Context, call *tool.Invocation, args waitArguments) (tool.Output, error) {
	own, a, release, err := s.open(ctx, s.parent)
	if err != nil {
		return tool.Output{}, s.unless(ctx, err)
	}
	defer release()
	began, since := s.Host.Now(), own.Pod.Last
	if i := slices.IndexFunc(own.State.Turn.Calls, func(c fold.Call) bool { return c.CallID == call.CallID }); i >= 0 && own.State.Turn.Calls[i].Started != nil {
		began, since = own.State.Turn.Calls[i].Began, own.State.Turn.Calls[i].Seq
	}
	ids, err := s.awaited(ctx, a, args.Pods, since)
	if err != nil {
		return tool.Output{}, s.unless(ctx, err)
	}
	var over <-chan time.Time
	if args.MaxSeconds > 0 {
		timer := time.NewTimer(began.Add(time.Duration(args.MaxSeconds) * time.Second).Sub(s.Host.Now()))
		defer timer.Stop()
		over = timer.C
	}
	if call.Meter != nil {
		call.Meter.Waits(true)
	}
	for {
		changed := a.next()
		works := slices.DeleteFunc(a.all(), func(w work) bool { return !slices.Contains(ids, w.Pod) })
		left := slices.ContainsFunc(works, func(w work) bool { return w.told == 0 })
		some := slices.ContainsFunc(works, func(w work) bool { return w.told > 0 })
		if !left || args.Any && some {
			return waited(works, ""), nil
		}
		call.Progress(waited(works, "").Summary + "\n")
		select {
		case <-changed:
		case <-over:
			return waited(works, " after "+tool.Plural(int64(args.MaxSeconds), "second")), nil
		case <-ctx.Done():
			return tool.Output{}, s.unless(ctx, context.Cause(ctx))
		}
	}
}

// awaited are the ids of the sub-pods with these names or, without names, of those that worked after an entry.
func (s *spawner) awaited(ctx context.Context, a *account, names []string, since item.Seq) (ids []string, err error) {
	works := a.all()
	for _, w := range works {
		if len(names) == 0 && (w.told == 0 || w.told > since) {
			ids = append(ids, w.Pod)
		}
	}
	for _, name := range names {
		p, err := s.Host.Store.Pod(ctx, name)
		if err != nil && item.ReasonOf(err) != store.ReasonPodNotFound {
			return nil, err
		}
		i := slices.IndexFunc(works, func(w work) bool { return w.Pod == p.ID || w.Name == name })
		if i < 0 {
			return nil, item.Errorf(item.KindInvalid, "BAD_PODS", "you started no pod %q in the background: leave out pods to wait for all", name)
		}
		ids = append(ids, works[i].Pod)
	}
	return ids, nil
}

// waited says which sub-pods have ended, and which have not.
func waited(works []work, after string) tool.Output {
	var done, left []string
	for _, w := range works {
		if w.told > 0 {
			done = append(done, fmt.Sprintf("%s (%s)", w.Name, w.outcome))
		} else {
			left = append(left, w.Name)
		}
	}
	var parts []string
	if len(done) > 0 {
		parts = append(parts, "ended: "+strings.Join(done, ", ")+"; their letters have the answers")
	}
	if len(left) > 0 {
		parts = append(parts, "at work"+after+": "+strings.Join(left, ", "))
	}
	if len(parts) == 0 {
		parts = []string{"no pod of yours works in the background"}
	}
	return tool.Output{Summary: tool.Bound(pod.WaitTool + ": " + strings.Join(parts, "; "))}
}
