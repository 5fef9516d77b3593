package storetest

import (
	"fmt"
	"slices"

	"podd/pkg/item"
	"podd/pkg/store"

	"pgregory.net/rapid"
)

func (m *model) claim(t *rapid.T) {
	id := podIDs.Draw(t, "pod")
	epoch, err := m.f.s.Claim(m.f.Context(), id)
	if m.same(err, m.missing(id)) {
		m.pods[id].epoch++
		equal(m.f, "epoch", epoch, m.pods[id].epoch)
	}
}

func (m *model) append(t *rapid.T) {
	b := m.batch(t)
	for range rapid.IntRange(0, 3).Draw(t, "entries") {
		e := note(m.tick())
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			e = m.raising(t)
		case 1:
			e = pictured(m.tick(), imageBytes.Draw(t, "image"))
			b.Images = bytesOf(images...)
		}
		b.Entries = append(b.Entries, e)
	}
	if rapid.Bool().Draw(t, "status") {
		b.Status = &item.PodStatus{State: item.StateRunning, Turn: int64(m.tick()), LastActivity: at(m.tick())}
	}
	m.based(t, &b)
	m.try(b)
}

func (m *model) submit(t *rapid.T) {
	text := texts.Draw(t, "text")
	b := admission(requestIDs.Draw(t, "request"), text)
	to := m.batch(t)
	b.Pod, b.Epoch = to.Pod, to.Epoch
	b.Enqueue = rapid.Bool().Draw(t, "enqueue")
	b.Admit.Queued = rapid.Bool().Draw(t, "queued")
	b.InboxLimit = rapid.IntRange(0, 2).Draw(t, "limit")
	m.try(b)
}

func (m *model) take(t *rapid.T) {
	b := m.batch(t)
	b.Dequeue = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) item.Seq {
		return item.Seq(rapid.Int64Range(0, 6).Draw(t, "seq"))
	}), 1, 2).Draw(t, "dequeue")
	b.Entries = []item.Entry{note(m.tick())}
	m.try(b)
}

// based adds a base to some batches.
func (m *model) based(t *rapid.T, b *store.Batch) {
	if rapid.IntRange(0, 3).Draw(t, "based") == 0 {
		b.Base = based(item.Seq(rapid.Int64Range(0, 12).Draw(t, "base")), fmt.Sprint(m.tick()))
	}
}

// batch is an empty batch for some pod, mostly with its epoch.
func (m *model) batch(t *rapid.T) store.Batch {
	b := store.Batch{Pod: podIDs.Draw(t, "pod")}
	if p := m.pods[b.Pod]; p != nil {
		b.Epoch = p.epoch
	}
	if rapid.IntRange(0, 9).Draw(t, "epoch") == 0 {
		b.Epoch--
	}
	return b
}

// try appends a batch to the store and to the model.
func (m *model) try(b store.Batch) {
	m.f.Helper()
	out, err := m.f.s.Append(m.f.Context(), b)
	reason, duplicate := m.refusal(b)
	if !m.same(err, reason) {
		return
	}
	if duplicate != nil {
		equal(m.f, "duplicate", out.Duplicate, duplicate)
		equal(m.f, "records of a duplicate", len(out.Records), 0)
		return
	}
	first := len(m.pods[b.Pod].log)
	alerts := m.write(b)
	equal(m.f, "duplicate", out.Duplicate, nil)
	equal(m.f, "records", decode(m.f, out.Records), append([]item.Entry{}, m.pods[b.Pod].log[first:]...))
	equal(m.f, "alerts", append([]item.Alert{}, out.Alerts...), append([]item.Alert{}, alerts...))
}

// refusal is the reason why a batch is refused, or the request that it repeats.
func (m *model) refusal(b store.Batch) (reason string, duplicate *store.Request) {
	p := m.pods[b.Pod]
	if p == nil {
		return store.ReasonPodNotFound, nil
	}
	if b.Epoch != p.epoch || p.epoch == 0 {
		return store.ReasonStaleEpoch, nil
	}
	if b.Admit != nil {
		if r, ok := p.requests[b.Admit.ID]; ok {
			if r.Digest != b.Admit.Digest {
				return store.ReasonRequestIDTaken, nil
			}
			return "", &r
		}
	}
	for _, e := range b.Entries {
		if k, ok := e.Kind.(item.Rewind); ok && p.marked() && k.To < p.from {
			return store.ReasonPurged, nil
		}
	}
	if b.Base != nil && !p.mayBase(b) {
		return store.ReasonBadBatch, nil
	}
	left := slices.Clone(p.inbox)
	for _, seq := range b.Dequeue {
		i := slices.Index(left, seq)
		if i < 0 {
			return store.ReasonNotWaiting, nil
		}
		left = slices.Delete(left, i, i+1)
	}
	if b.Enqueue && b.InboxLimit > 0 && len(left) >= b.InboxLimit {
		return store.ReasonInboxFull, nil
	}
	return "", nil
}

// write applies an allowed batch to the model and returns its alerts.
func (m *model) write(b store.Batch) (alerts []item.Alert) {
	p := m.pods[b.Pod]
	first := p.Last + 1
	for i, e := range numbered(first, b.Entries...) {
		if a, ok := e.Kind.(item.AlertRaised); ok {
			a.Alert.Pod, a.Alert.Count = b.Pod, 1
			a.Alert = m.raise(a.Alert)
			alerts = append(alerts, a.Alert)
			e.Kind = a
		}
		p.log, p.owners = append(p.log, e), append(p.owners, p.ID)
		p.First, p.Last = max(p.First, 1), first+item.Seq(i)
		p.Status.LastActivity = e.Time
	}
	if b.Base != nil {
		p.base = b.Base
	}
	for _, e := range b.Entries {
		if k, ok := e.Kind.(item.Rewind); ok && p.base != nil && p.base.Seq > k.To {
			p.base = nil
		}
	}
	p.inbox = slices.DeleteFunc(p.inbox, func(seq item.Seq) bool { return slices.Contains(b.Dequeue, seq) })
	if b.Enqueue {
		p.inbox = append(p.inbox, first)
	}
	p.Queued = len(p.inbox)
	if b.Admit != nil {
		p.requests[b.Admit.ID] = store.Request{ID: b.Admit.ID, Digest: b.Admit.Digest, Seq: first, Queued: b.Admit.Queued}
	}
	if b.Status != nil {
		p.Status = *b.Status
	}
	return alerts
}
