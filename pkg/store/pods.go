package store

import (
	"context"

	"podd/pkg/item"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// CreatePod stores a new pod.
func (s *Bolt) CreatePod(ctx context.Context, p item.Pod) error {
	c, err := newCreatePod(p)
	if err != nil {
		return err
	}
	return podFault(p.ID, s.do(ctx, &c))
}

// newCreatePod does the caller's part of the work.
func newCreatePod(p item.Pod) (c createPod, err error) {
	if err := rules.KeyText("pod id", p.ID); err != nil {
		return c, err
	}
	if err := rules.KeyText("pod name", p.Name); err != nil {
		return c, err
	}
	c = createPod{id: p.ID, name: p.Name}
	if c.record, err = wire.EncodePodRecord(p); err != nil {
		return c, err
	}
	c.head = head{first: 1, activity: p.Status.LastActivity}
	if c.head.activity.IsZero() {
		c.head.activity = p.CreatedAt
	}
	c.head.status, err = wire.EncodeStatus(p.Status)
	return c, err
}

type createPod struct {
	id, name string
	record   []byte
	head     head
}

func (c *createPod) size() int { return len(c.record) + len(c.head.status) }

func (c *createPod) check(tx *bbolt.Tx) (bool, error) {
	if tx.Bucket(bucketNames).Get([]byte(c.name)) != nil {
		return false, rules.NameTaken(c.name)
	}
	if tx.Bucket(bucketHeads).Get([]byte(c.id)) != nil {
		return false, rules.IDTaken(c.id)
	}
	if tx.Bucket(bucketLogs).Bucket([]byte(c.id)) != nil {
		return false, rules.IDNeeded(c.id)
	}
	return true, nil
}

func (c *createPod) write(tx *bbolt.Tx) error {
	if err := tx.Bucket(bucketNames).Put([]byte(c.name), []byte(c.id)); err != nil {
		return err
	}
	if err := tx.Bucket(bucketPods).Put([]byte(c.id), wire.Seal(bucketPods, []byte(c.id), c.record)); err != nil {
		return err
	}
	if _, err := tx.Bucket(bucketLogs).CreateBucket([]byte(c.id)); err != nil {
		return err
	}
	return storeHead(tx, c.id, c.head)
}

// UpdateSpec replaces a pod's spec.
func (s *Bolt) UpdateSpec(ctx context.Context, pod string, spec item.PodSpec) error {
	body, err := wire.EncodePodRecord(item.Pod{Spec: spec})
	if err != nil {
		return err
	}
	return podFault(pod, s.do(ctx, &updateSpec{pod: pod, spec: spec, bytes: len(body)}))
}

type updateSpec struct {
	pod    string
	spec   item.PodSpec
	bytes  int
	record []byte
}

func (c *updateSpec) size() int { return c.bytes }

// check merges the spec into the record, which also has the name. Specs change so rarely
// that the writer can encode them.
func (c *updateSpec) check(tx *bbolt.Tx) (bool, error) {
	if tx.Bucket(bucketHeads).Get([]byte(c.pod)) == nil {
		return false, rules.NoPod(c.pod)
	}
	pod, err := loadPodRecord(tx, c.pod)
	if err != nil {
		return false, err
	}
	pod.Spec = c.spec
	c.record, err = wire.EncodePodRecord(pod)
	return true, err
}

func (c *updateSpec) write(tx *bbolt.Tx) error {
	return tx.Bucket(bucketPods).Put([]byte(c.pod), wire.Seal(bucketPods, []byte(c.pod), c.record))
}

// Claim makes the caller the only writer of a pod's log.
func (s *Bolt) Claim(ctx context.Context, pod string) (Epoch, error) {
	c := claim{pod: pod}
	if err := s.do(ctx, &c); err != nil {
		return 0, podFault(pod, err)
	}
	return c.head.epoch, nil
}

type claim struct {
	pod  string
	head head
}

func (c *claim) size() int { return rules.HeadLen }

func (c *claim) check(tx *bbolt.Tx) (needed bool, err error) {
	c.head, err = loadHead(tx, c.pod)
	c.head.epoch++
	return true, err
}

func (c *claim) write(tx *bbolt.Tx) error { return storeHead(tx, c.pod, c.head) }

func loadPodRecord(tx *bbolt.Tx, pod string) (item.Pod, error) {
	sealed := tx.Bucket(bucketPods).Get([]byte(pod))
	if sealed == nil {
		return item.Pod{}, rules.NoPod(pod)
	}
	return decodePodRecord(pod, sealed)
}

func decodePodRecord(pod string, sealed []byte) (item.Pod, error) {
	body, ok := wire.Unseal(bucketPods, []byte(pod), sealed)
	if !ok {
		return item.Pod{}, rules.Pod(pod)
	}
	p, err := wire.DecodePod(body)
	if err != nil {
		return item.Pod{}, rules.Pod(pod)
	}
	return p, nil
}
