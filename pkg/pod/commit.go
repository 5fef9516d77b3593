package pod

import (
	"context"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// commit appends a batch to the pod's log. It returns the entries with their sequences.
func (j *journal) commit(ctx context.Context, b store.Batch) (store.Appended, []item.Entry, error) {
	d, err := j.draft(b, j.situation)
	if err != nil {
		return store.Appended{}, nil, err
	}
	appended, err := j.write(ctx, d)
	return appended, d.entries, err
}

// situate stores another situation of the pod.
func (j *journal) situate(ctx context.Context, s situation) error {
	d, err := j.draft(store.Batch{}, s)
	if err != nil {
		return err
	}
	_, err = j.write(ctx, d)
	return err
}

// draft is a batch in the form to store.
type draft struct {
	batch     store.Batch
	situation situation
	status    item.PodStatus
	// entries are those of the batch. The store assigns their sequences.
	entries []item.Entry
}

// draft is the pod's state once the batch is stored.
func (j *journal) draft(b store.Batch, s situation) (*draft, error) {
	if j.broken != nil {
		return nil, j.broken
	}
	b.Pod, b.Epoch = j.id, j.epoch
	now := j.time()
	then := j.state
	for i := range b.Entries {
		b.Entries[i].Time = now
		b.Entries[i].Kind = takeImages(&b, b.Entries[i].Kind)
		then.Add(b.Entries[i])
	}
	s = s.after(then)
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

// write commits a draft and makes it the pod's state. Once it is on disk, it informs readers of the
// log and of the alerts, and hooks. done are the live blocks that the entries replace.
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
	if n := len(appended.Records); n > 0 {
		j.rec.Last = appended.Records[n-1].Seq
	}
	j.publish()
	j.live.Advance(j.rec.Last, done...)
	j.listeners.announce(j.id, appended.Records, appended.Alerts)
	return appended, nil
}

// stored sets the sequences that the store assigned, also in alerts.
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

// takeImages gives a batch the bytes of the images that come with a kind, which then has only
// their descriptions: what stays in memory is what is stored.
func takeImages(b *store.Batch, k item.Kind) item.Kind {
	return item.Stored(k, func(i item.Image) item.Image {
		if i.Data != nil {
			if b.Images == nil {
				b.Images = make(map[string][]byte)
			}
			b.Images[i.Digest], b.ImageLimit = i.Data, item.MaxPodImagesBytes
			i.Data = nil
		}
		return i
	})
}
