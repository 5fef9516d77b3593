package triggers

import (
	"context"
	"slices"
	"time"

	"podd/internal/questions"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/wire"
)

// span is the time in which a call of a pod ran.
type span struct{ from, to time.Time }

// byOthers are those changes since a sight that no call of the pod, or of a pod below it, made: none ran then.
func (l *lookout) byOthers(ctx context.Context, p item.Pod, before *sight, all []change) (others []change, err error) {
	spans, err := l.calls(ctx, p, before.From, before.At)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		own := slices.ContainsFunc(spans, func(s span) bool {
			if c.at.IsZero() {
				return s.to.After(before.At)
			}
			return !c.at.Before(s.from.Add(-coarse)) && !c.at.After(s.to)
		})
		if !own {
			others = append(others, c)
		}
	}
	return others, nil
}

// calls are when calls ran of a pod, since an entry, and of the pods below it, since a time.
func (l *lookout) calls(ctx context.Context, p item.Pod, from item.Seq, since time.Time) (all []span, err error) {
	pods, err := l.host.Store.Pods(ctx)
	if err != nil {
		return nil, err
	}
	family := []item.Pod{p}
	for i := 0; i < len(family); i++ {
		for _, sub := range pods {
			if sub.Spec.Parent == family[i].ID {
				family = append(family, sub)
			}
		}
	}
	for i, member := range family {
		switch {
		case i > 0 && member.Status.LastActivity.Before(since):
			continue
		case i > 0:
			from = 0
		}
		spans, err := l.callsOf(ctx, member.ID, from)
		if err != nil && item.KindOf(err) != item.KindNotFound {
			return nil, err
		}
		all = append(all, spans...)
	}
	return all, nil
}

// callsOf are when calls of a pod ran, since an entry.
func (l *lookout) callsOf(ctx context.Context, id string, from item.Seq) (all []span, err error) {
	open := make(map[string]int)
	err = l.host.Logs.Entries(ctx, id, from, calls, func(e item.Entry) bool {
		switch k := e.Kind.(type) {
		case item.ToolStarted:
			if k.Tool != questions.Name && k.Tool != pod.WaitTool && k.Tool != pod.SpawnTool {
				open[k.CallID] = len(all)
				all = append(all, span{e.Time, never})
			}
		case item.ItemAdded:
			if r, ok := k.Item.(item.ToolResult); ok {
				if i, ok := open[r.CallID]; ok {
					all[i].to = e.Time
					delete(open, r.CallID)
				}
			}
		case item.TurnEnded:
			for id, i := range open {
				all[i].to = e.Time
				delete(open, id)
			}
		}
		return true
	})
	if item.ReasonOf(err) == store.ReasonPurged && from > 0 {
		return l.callsOf(ctx, id, 0)
	}
	return all, err
}

func calls(k wire.KindNumber) bool {
	return k == wire.KindToolStarted || k == wire.KindItem || k == wire.KindTurnEnded
}
