package store

import (
	"podd/pkg/item"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// Internals for the black-box tests.

// NewestVersion is the version of the last migration.
func NewestVersion() uint32 { return migrations[len(migrations)-1].version }

// Step is a migration that a test defines.
type Step func(tx *bbolt.Tx) error

// OpenWithSteps opens a database with this version's migrations and further ones.
func OpenWithSteps(cfg BoltConfig, further ...Step) (*Bolt, error) {
	steps := migrations[:len(migrations):len(migrations)]
	for i, step := range further {
		steps = append(steps, migration{version: NewestVersion() + uint32(i) + 1, migrate: step})
	}
	return openBolt(cfg, steps)
}

// WithoutSync makes a store that does not wait for the disk.
func WithoutSync(s *Bolt) *Bolt {
	s.db.NoSync = true
	return s
}

// MigrationVersions are the versions of the migrations in order.
func MigrationVersions() []uint32 {
	var versions []uint32
	for _, m := range migrations {
		versions = append(versions, m.version)
	}
	return versions
}

// NewRecord is the stored form of an encoded entry.
func NewRecord(pod string, seq item.Seq, body []byte) []byte {
	return wire.NewDraft(pod, body).Record(seq)
}

// OpenRecord is the entry of a record.
func OpenRecord(pod string, seq item.Seq, value []byte) ([]byte, bool) {
	return wire.OpenRecord(pod, seq, value)
}

// ReadSealed runs a value through each reader of sealed values.
func ReadSealed(bucket, key, sealed []byte) (body []byte, ok bool) {
	body, ok = wire.Unseal(bucket, key, sealed)
	if h, okHead := decodeHead(body); okHead {
		_, _ = h.join(nil)
	}
	_, _ = readPod("p", sealed, sealed)
	_, _ = decodeRequest("r", body)
	_, _ = decodeAlert(1, sealed)
	_, _ = decodePodRecord("p", sealed)
	return body, ok
}

// Seal is the sealed form of a body.
func Seal(bucket, key, body []byte) []byte { return wire.Seal(bucket, key, body) }

// Edit changes the raw database.
func (s *Bolt) Edit(fn func(tx *bbolt.Tx) error) error { return s.db.Update(fn) }

// Inconsistencies are the faults that bbolt finds in its own pages.
func (s *Bolt) Inconsistencies() (found []error) {
	_ = s.db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			found = append(found, err)
		}
		return nil
	})
	return found
}

// Interpose runs a change of the test in the writer.
func (s *Bolt) Interpose(check, write func() error) error {
	c := &testChange{onCheck: check, onWrite: write}
	p := &pending{change: c, done: make(chan struct{})}
	s.queue <- p
	<-p.done
	return p.err
}

type testChange struct{ onCheck, onWrite func() error }

func (c *testChange) check(*bbolt.Tx) (bool, error) { return c.onWrite != nil, c.onCheck() }
func (c *testChange) write(*bbolt.Tx) error         { return c.onWrite() }
func (c *testChange) size() int                     { return 0 }

// OpenError is OpenBolt's error for an error of bbolt.
func OpenError(path string, err error) error { return openError(path, err) }
