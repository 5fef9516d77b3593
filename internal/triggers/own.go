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
		if !c.during(spans, before.At) {
			others = append(others, c)
		}
	}
	return others, nil
}

// during says that a call ran when the file changed; of one that is gone, that a call ended since it was seen.
func (c *change) during(spans []span, seen time.Time) bool {
	return slices.ContainsFunc(spans, func(s span) bool {
		if c.at.IsZero() {
			return s.to.After(seen)
		}
		return !c.at.Before(s.from.Add(-coarse)) && !c.at.After(s.to)
	})
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
func (l *lookout) callsOf(ctx context.Context, id string, from item.Seq) ([]span, error) {
	b := ran{open: make(map[string]int)}
	err := l.host.Logs.Entries(ctx, id, from, calls, func(e item.Entry) bool {
		b.add(e)
		return true
	})
	if item.ReasonOf(err) == store.ReasonPurged && from > 0 {
		return l.callsOf(ctx, id, 0)
	}
	return b.all, err
}

// ran gathers from a log when calls ran that may change files; open are those without an end, by their ids.
type ran struct {
	all  []span
	open map[string]int
}

func (b *ran) add(e item.Entry) {
	switch k := e.Kind.(type) {
	case item.ToolStarted:
		if k.Tool != questions.Name && k.Tool != pod.WaitTool && k.Tool != pod.SpawnTool {
			b.open[k.CallID] = len(b.all)
			b.all = append(b.all, span{e.Time, never})
		}
	case item.ItemAdded:
		if r, ok := k.Item.(item.ToolResult); ok {
			b.end(r.CallID, e.Time)
		}
	case item.TurnEnded:
		for id := range b.open {
			b.end(id, e.Time)
		}
	}
}

func (b *ran) end(id string, at time.Time) {
	if i, ok := b.open[id]; ok {
		b.all[i].to = at
		delete(b.open, id)
	}
}

func calls(k wire.KindNumber) bool {
	return k == wire.KindToolStarted || k == wire.KindItem || k == wire.KindTurnEnded
}
