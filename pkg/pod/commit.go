package pod

import (
	"context"

	"podd/internal/wire"
	"podd/pkg/item"
	"podd/pkg/store"
)

// commit appends a batch to the pod's log and then, once it is on disk, tells
// everyone: readers of the log, of the alerts, and hooks. done are the live blocks
// that the entries replace. s is the pod's situation from then on. It returns the
// entries with their sequences.
func (a *actor) commit(ctx context.Context, b store.Batch, s situation, done ...string) (store.Appended, []item.Entry, error) {
	if a.broken != nil {
		return store.Appended{}, nil, a.broken
	}
	b.Pod, b.Epoch = a.id, a.epoch
	now := a.host.Now().UTC()
	if now.Before(a.rec.Status.LastActivity) {
		// The log's times never go back, whatever the clock does.
		now = a.rec.Status.LastActivity
	}
	j := a.journal
	for i := range b.Entries {
		b.Entries[i].Time = now
		j.add(b.Entries[i])
	}
	status := j.status(a.rec.Status, s)
	if len(b.Entries) > 0 {
		status.LastActivity = now
	}
	b.Status = &status
	appended, err := a.host.Store.Append(ctx, b)
	if err != nil || appended.Duplicate != nil {
		return appended, nil, err
	}
	a.journal, a.situation, a.rec.Status = j, s, status
	entries := a.stored(b.Entries, appended)
	for _, e := range entries {
		a.questions.add(e)
	}
	if n := len(appended.Records); n > 0 {
		a.rec.Last = appended.Records[n-1].Seq
	}
	a.live.Advance(a.rec.Last, done...)
	a.host.announce(a.id, appended.Records, appended.Alerts)
	return appended, entries, nil
}

// stored gives entries the sequences that the store assigned, to alerts too.
func (a *actor) stored(entries []item.Entry, appended store.Appended) []item.Entry {
	alerts := appended.Alerts
	for i, r := range appended.Records {
		entries[i].Seq = r.Seq
		if _, ok := entries[i].Kind.(item.AlertRaised); ok && len(alerts) > 0 {
			entries[i].Kind = item.AlertRaised{Alert: alerts[0]}
			alerts = alerts[1:]
		}
	}
	return entries
}

// announce tells readers of alerts and hooks what was committed.
func (h *Host) announce(pod string, records []store.Record, alerts []item.Alert) {
	for _, r := range records {
		h.hooks.Load().Entry(pod, func() item.Entry {
			e, err := wire.DecodeEntry(r.Entry)
			if err != nil {
				h.Logger.Error("entry could not be copied for a hook", "pod", pod, "seq", r.Seq, "error", err)
			}
			return e
		})
	}
	for _, alert := range alerts {
		h.hooks.Load().Alert(alert)
		h.alerts.Advance(alert.Seq)
	}
}

// readAll gives the entries of a pod's log above after, in order, to fn. From 0 it
// begins with the first that the log still has, whatever was purged.
func (h *Host) readAll(ctx context.Context, pod string, after item.Seq, fn func(item.Entry)) error {
	return h.readRecords(ctx, pod, after, func(seq item.Seq, body []byte) error {
		e, err := wire.DecodeEntry(body)
		if err != nil {
			return damaged(pod, seq, err)
		}
		fn(e)
		return nil
	})
}

// readRecords is readAll for entries as they are stored. An error of fn ends it.
func (h *Host) readRecords(ctx context.Context, pod string, after item.Seq, fn func(item.Seq, []byte) error) error {
	for {
		records, err := h.Store.Read(ctx, pod, after, pageLen)
		if after == 0 && item.ReasonOf(err) == store.ReasonPurged {
			p, err := h.Store.Pod(ctx, pod)
			if err != nil {
				return err
			}
			after = p.First - 1
			continue
		}
		for _, r := range records {
			if err := fn(r.Seq, r.Entry); err != nil {
				return err
			}
			after = r.Seq
		}
		if err != nil || len(records) == 0 {
			return err
		}
	}
}

// pageLen is how many records one read of the log asks for.
const pageLen = 256

func damaged(pod string, seq item.Seq, cause error) error {
	e := item.Errorf(item.KindDataLoss, "DAMAGED", "the log of pod %s is damaged at seq %d; what stands before it can be read", pod, seq)
	e.Cause = cause
	return e
}
