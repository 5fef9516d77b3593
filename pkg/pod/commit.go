package pod

import (
	"context"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// commit appends a batch to the pod's log and then, once it is on disk, tells
// everyone: readers of the log, of the alerts, and hooks. done are the live blocks
// that the entries replace. s is the pod's situation from then on. It returns the
// entries with their sequences.
func (j *journal) commit(ctx context.Context, b store.Batch, s situation, done ...string) (store.Appended, []item.Entry, error) {
	d, err := j.draft(b, s)
	if err != nil {
		return store.Appended{}, nil, err
	}
	appended, err := j.write(ctx, d, done...)
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
func (j *journal) draft(b store.Batch, s situation) (*draft, error) {
	if j.broken != nil {
		return nil, j.broken
	}
	b.Pod, b.Epoch = j.id, j.epoch
	now := j.time()
	then := j.state
	for i := range b.Entries {
		b.Entries[i].Time = now
		then.Add(b.Entries[i])
	}
	d := &draft{batch: b, situation: s, entries: slices.Clone(b.Entries), status: status(then, s, j.rec.Status.LastActivity)}
	if len(b.Entries) > 0 {
		d.status.LastActivity = now
	}
	d.batch.Status = &d.status
	return d, nil
}

// time is that of the log: it never goes back, whatever the clock does.
func (j *journal) time() time.Time {
	if now := j.now().UTC(); now.After(j.rec.Status.LastActivity) {
		return now
	}
	return j.rec.Status.LastActivity
}

// write commits a draft and lets it count.
func (j *journal) write(ctx context.Context, d *draft, done ...string) (store.Appended, error) {
	appended, err := j.store.Append(ctx, d.batch)
	if err != nil || appended.Duplicate != nil {
		d.entries = nil
		return appended, err
	}
	j.situation, j.rec.Status = d.situation, d.status
	d.stored(appended)
	for _, e := range d.entries {
		j.state.Add(e)
		j.carried.Add(e)
	}
	j.showQuestions()
	if n := len(appended.Records); n > 0 {
		j.rec.Last = appended.Records[n-1].Seq
	}
	j.live.Advance(j.rec.Last, done...)
	j.listeners.announce(j.id, appended.Records, appended.Alerts)
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
