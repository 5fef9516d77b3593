package store

import (
	"bytes"
	"maps"
	"slices"

	"podd/pkg/item"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// pods checks each pod by itself: a page of one may be damaged.
func (c *checker) pods(tx *bbolt.Tx) error {
	for _, key := range keysWith(tx.Bucket(bucketHeads), nil) {
		pod := string(key)
		err := guard(func() error { return c.pod(tx, pod) })
		if isFault(err) {
			c.sentence(rules.Pod(pod))
		} else if err != nil {
			return err
		}
		if err := c.goOn(); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) pod(tx *bbolt.Tx, pod string) error {
	p, err := readPod(pod, tx.Bucket(bucketPods).Get([]byte(pod)), tx.Bucket(bucketHeads).Get([]byte(pod)))
	if err != nil {
		c.sentence(err)
		return nil
	}
	v, err := openLog(tx, pod)
	if err != nil {
		c.sentence(err)
		return nil
	}
	if got := string(tx.Bucket(bucketNames).Get([]byte(p.Name))); got != pod {
		c.note("pod %s is named %q, but that name belongs to %q", pod, p.Name, got)
	}
	if c.quick {
		if v.head.last >= v.head.first {
			c.entries(v, v.head.last)
		}
		return nil
	}
	c.entries(v, v.head.first)
	if k, _ := v.log.Cursor().Last(); seqOf(k) > v.head.last {
		c.note("pod %s has records up to %d, but its log ends at %d", pod, seqOf(k), v.head.last)
	}
	c.inbox(v)
	return c.goOn()
}

// entries reads a log from an entry on, and continues after damaged entries.
func (c *checker) entries(v logView, next item.Seq) {
	for next <= v.head.last && c.goOn() == nil {
		page, err := v.page(next, 0)
		for _, r := range page {
			e, err := r.Decode()
			if err != nil {
				c.sentence(rules.Entry(v.pod, r.Seq))
			}
			if !c.quick {
				c.refersTo(v, e)
			}
			next = r.Seq + 1
		}
		if err != nil {
			c.sentence(err)
			next++
		}
	}
}

// inbox checks the queued submits and their number.
func (c *checker) inbox(v logView) {
	keys := keysWith(v.tx.Bucket(bucketInbox), podKey(v.pod))
	for _, k := range keys {
		entry, err := readOne(v.log, v.pod, seqOf(k))
		if err != nil {
			c.sentence(err)
			continue
		}
		if e, err := (Waiting{Entry: entry}).Decode(); err == nil {
			if _, ok := e.Kind.(item.Submitted); ok {
				continue
			}
		}
		c.note("entry %d of pod %s is in the inbox, but is not a submit", seqOf(k), v.pod)
	}
	if len(keys) != int(v.head.queued) {
		c.note("the inbox of pod %[2]s has %[1]d submits, but the pod counts %[3]d", len(keys), v.pod, v.head.queued)
	}
}

// bases checks that each base covers entries of its pod's log. A base that cannot be used
// is harmless.
func (c *checker) bases(tx *bbolt.Tx) error {
	for _, key := range keysWith(tx.Bucket(bucketBases), nil) {
		pod := string(key)
		h, err := loadHead(tx, pod)
		switch b, ok := loadBase(tx, pod); {
		case item.KindOf(err) == item.KindNotFound:
			c.harmless("a base belongs to pod %s, which does not exist", pod)
		case err != nil: // The pod itself was found to be damaged.
		case !ok:
			c.harmless("the base of pod %s is damaged: podd reads its log instead, which takes longer", pod)
		case b.Seq < h.first || b.Seq > h.last:
			c.note("the base of pod %s ends at %d, but its log has entries %d to %d", pod, b.Seq, h.first, h.last)
		}
		if err := c.goOn(); err != nil {
			return err
		}
	}
	return nil
}

// names checks that each name belongs to a pod.
func (c *checker) names(tx *bbolt.Tx) error {
	heads := tx.Bucket(bucketHeads)
	return tx.Bucket(bucketNames).ForEach(func(name, pod []byte) error {
		if heads.Get(pod) == nil {
			c.note("the name %q belongs to pod %s, which does not exist", name, pod)
		}
		return c.goOn()
	})
}

// requests checks the remembered request ids, and their number.
func (c *checker) requests(tx *bbolt.Tx) error {
	for _, key := range keysWith(tx.Bucket(bucketHeads), nil) {
		pod := string(key)
		h, err := loadHead(tx, pod)
		if err != nil {
			continue
		}
		admitted := tx.Bucket(bucketAdmitted)
		ids := keysWith(admitted, podKey(pod))
		for _, k := range ids {
			id := string(admitted.Get(k))
			if r, ok, err := loadRequest(tx, pod, id); err != nil || !ok || r.Seq != seqOf(k) {
				c.note("the request id %q of pod %s is damaged: a retry could be admitted twice", id, pod)
			}
		}
		if n := len(keysWith(tx.Bucket(bucketRequests), podKey(pod))); n != len(ids) || n != int(h.requests) {
			c.note("pod %s has %d request ids, %d in their order, but counts %d", pod, n, len(ids), h.requests)
		}
		if err := c.goOn(); err != nil {
			return err
		}
	}
	return nil
}

// alerts checks each alert, and that the index by pod has it.
func (c *checker) alerts(tx *bbolt.Tx) error {
	byPod := tx.Bucket(bucketPodAlerts)
	indexed := 0
	err := tx.Bucket(bucketAlerts).ForEach(func(k, v []byte) error {
		a, err := decodeAlert(seqOf(k), v)
		if last := tx.Bucket(bucketAlerts).Sequence(); uint64(seqOf(k)) > last {
			c.note("alert %d is above the last one, %d: a new alert could replace it", seqOf(k), last)
		}
		switch {
		case err != nil:
			c.sentence(err)
		case a.Pod == "":
		case byPod.Get(podSeqKey(a.Pod, a.Seq)) == nil:
			c.note("alert %d is missing from the alerts of its pod %s", a.Seq, a.Pod)
		default:
			indexed++
		}
		return c.goOn()
	})
	if err != nil {
		return err
	}
	if n := len(keysWith(byPod, nil)); n > indexed && len(c.found) == 0 {
		c.note("the alerts of pods list %d that do not exist", n-indexed)
	}
	return nil
}

// shares checks that the entries that forks need exist and are marked as shared.
func (c *checker) shares(tx *bbolt.Tx) error {
	sharers := tx.Bucket(bucketSharers)
	for _, key := range keysWith(tx.Bucket(bucketLineages), nil) {
		pod := string(key)
		l, err := loadLineage(tx, pod)
		if err != nil {
			continue // The pod itself was found to be damaged.
		}
		from := neededFrom(tx, pod)
		for _, s := range l {
			key := sharerKey(s.Owner, pod)
			body, ok := wire.Unseal(bucketSharers, key, sharers.Get(key))
			if s.UpTo >= from && (!ok || !bytes.Equal(body, seqKey(s.UpTo))) {
				c.note("pod %s needs entries of pod %s up to %d, but they are not marked as shared", pod, s.Owner, s.UpTo)
			}
		}
	}
	for _, pod := range c.ownerless(tx) {
		c.note("entries of pod %s are left over; no pod needs them", pod)
	}
	return c.goOn()
}

// ownerless are logs that no pod and no fork needs.
func (c *checker) ownerless(tx *bbolt.Tx) []string {
	left := map[string]bool{}
	for _, key := range keysWith(tx.Bucket(bucketLogs), nil) {
		if neededOf(tx, string(key)) == (need{}) {
			left[string(key)] = true
		}
	}
	return slices.Sorted(maps.Keys(left))
}
