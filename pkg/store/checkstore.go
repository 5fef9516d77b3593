package store

import (
	"bytes"
	"context"
	"errors"

	"podd/pkg/item"
	"podd/pkg/store/rules"
	"podd/pkg/wire"
)

// CheckStore reads all that an open store shows, and says what of it is damaged. Pods in the trash are not
// read. The error says why the store could not be read.
func CheckStore(ctx context.Context, s Store) ([]Finding, error) {
	c := &reader{checker: checker{ctx: ctx}, s: s, images: make(map[string]bool)}
	err := c.all()
	if errors.Is(err, errEnough) {
		err = nil
	}
	return c.found, err
}

// reader checks a store by reading it.
type reader struct {
	checker
	s Store
	// images are those that were read.
	images map[string]bool
}

func (c *reader) all() error {
	pods, err := c.s.Pods(c.ctx)
	if err != nil {
		return err
	}
	for _, r := range pods {
		if err := c.take(c.pod(r.ID)); err != nil {
			return err
		}
	}
	for after := item.Seq(0); ; {
		alerts, err := c.s.Alerts(c.ctx, AlertQuery{After: after})
		if err != nil || len(alerts) == 0 {
			return err
		}
		for _, a := range alerts {
			if damage := rules.Alert(a.Seq); a.Text == damage.Error() {
				c.note("%s", a.Text)
			}
			after = a.Seq
		}
		if err := c.goOn(); err != nil {
			return err
		}
	}
}

// take notes damage, and returns any other error. A pod may be deleted or purged meanwhile.
func (c *reader) take(err error) error {
	switch {
	case item.ReasonOf(err) == ReasonDamaged:
		c.note("%s", err.Error())
		return c.goOn()
	case item.ReasonOf(err) == ReasonPodNotFound, item.ReasonOf(err) == ReasonPurged:
		return nil
	}
	return err
}

// pod reads what the store shows of one pod.
func (c *reader) pod(id string) error {
	p, err := c.s.Pod(c.ctx, id)
	if err != nil {
		return err
	}
	if err := c.take(c.inbox(p)); err != nil {
		return err
	}
	for at := p.First; at > 0 && at <= p.Last; {
		page, err := c.s.Read(c.ctx, id, at-1, readMost)
		for _, r := range page {
			if err := c.entry(id, r); err != nil {
				return err
			}
			at = r.Seq + 1
		}
		if err != nil || len(page) == 0 {
			return err
		}
	}
	return nil
}

// inbox compares a pod's inbox with the pod's count of it.
func (c *reader) inbox(p item.Pod) error {
	for {
		waiting, err := c.s.Inbox(c.ctx, p.ID)
		if err != nil || len(waiting) == p.Queued {
			return err
		}
		now, err := c.s.Pod(c.ctx, p.ID)
		if err != nil {
			return err
		}
		if now.Last == p.Last && now.Queued == p.Queued { // Each change of an inbox has an entry.
			c.note("the inbox of pod %s has %d submits, but the pod counts %d", p.ID, len(waiting), p.Queued)
			return nil
		}
		p = now
	}
}

// readMost is how many entries a check reads at once.
const readMost = 1000

// entry reads an entry and its images.
func (c *reader) entry(pod string, r Record) error {
	e, err := wire.DecodeEntry(r.Entry)
	if err != nil {
		return rules.Entry(pod, r.Seq)
	}
	for _, image := range item.ImagesIn(e.Kind) {
		if c.images[image.Digest] {
			continue
		}
		c.images[image.Digest] = true
		_, err := c.s.Image(c.ctx, image.Digest)
		if item.ReasonOf(err) == ReasonImageNotFound {
			err = c.missing(pod, r, image)
		}
		if err := c.take(err); err != nil {
			return err
		}
	}
	return c.goOn()
}

// missing notes an image of an entry that is missing. Both may be gone since the entry was read.
func (c *reader) missing(pod string, r Record, image item.Image) error {
	again, err := c.s.Read(c.ctx, pod, r.Seq-1, 1)
	if err != nil {
		return err
	}
	if len(again) > 0 && again[0].Seq == r.Seq && bytes.Equal(again[0].Entry, r.Entry) {
		c.note("entry %d of pod %s refers to the image %s, which is missing", r.Seq, pod, image.Digest)
	}
	return nil
}
