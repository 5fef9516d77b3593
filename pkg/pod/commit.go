package pod

import (
	"context"
	"slices"
	"time"

	"podd/internal/wire"
	"podd/pkg/item"
	"podd/pkg/store"
)

// commit appends a batch to the pod's log and then, once it is on disk, tells
// everyone: readers of the log, of the alerts, and hooks. done are the live blocks
// that the entries replace. s is the pod's situation from then on. It returns the
// entries with their sequences.
func (a *actor) commit(ctx context.Context, b store.Batch, s situation, done ...string) (store.Appended, []item.Entry, error) {
	d, err := a.draft(b, s)
	if err != nil {
		return store.Appended{}, nil, err
	}
	appended, err := a.write(ctx, d, done...)
	return appended, d.entries, err
}

// draft is a batch as it is going to be stored.
type draft struct {
	batch     store.Batch
	situation situation
	status    item.PodStatus
	// entries are those of the batch. They get their sequences from the store.
	entries []item.Entry
}

// draft says what the pod is once the batch is stored.
func (a *actor) draft(b store.Batch, s situation) (*draft, error) {
	if a.broken != nil {
		return nil, a.broken
	}
	b.Pod, b.Epoch = a.id, a.epoch
	now := a.now()
	then := a.state
	for i := range b.Entries {
		b.Entries[i].Time = now
		then.Add(b.Entries[i])
	}
	d := &draft{batch: b, situation: s, entries: slices.Clone(b.Entries), status: status(then, s, a.rec.Status.LastActivity)}
	if len(b.Entries) > 0 {
		d.status.LastActivity = now
	}
	d.batch.Status = &d.status
	return d, nil
}

// now is the time of the log: it never goes back, whatever the clock does.
func (a *actor) now() time.Time {
	if now := a.host.Now().UTC(); now.After(a.rec.Status.LastActivity) {
		return now
	}
	return a.rec.Status.LastActivity
}

// write commits a draft and lets it count.
func (a *actor) write(ctx context.Context, d *draft, done ...string) (store.Appended, error) {
	appended, err := a.host.Store.Append(ctx, d.batch)
	if err != nil || appended.Duplicate != nil {
		d.entries = nil
		return appended, err
	}
	a.situation, a.rec.Status = d.situation, d.status
	d.stored(appended)
	for _, e := range d.entries {
		a.state.Add(e)
	}
	a.showQuestions()
	if n := len(appended.Records); n > 0 {
		a.rec.Last = appended.Records[n-1].Seq
	}
	a.live.Advance(a.rec.Last, done...)
	a.host.announce(a.id, appended.Records, appended.Alerts)
	return appended, nil
}

// stored gives entries the sequences that the store assigned, to alerts too.
func (d *draft) stored(appended store.Appended) {
	alerts := appended.Alerts
	for i, r := range appended.Records {
		d.entries[i].Seq = r.Seq
		if _, ok := d.entries[i].Kind.(item.AlertRaised); ok && len(alerts) > 0 {
			d.entries[i].Kind = item.AlertRaised{Alert: alerts[0]}
			alerts = alerts[1:]
		}
	}
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

// readRecords gives the entries of a pod's log above after, in order and as they are stored, to
// fn. From 0 it begins with the first that the log still has, whatever was purged. An error of fn
// ends it.
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
