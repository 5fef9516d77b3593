package store

import (
	"bytes"
	"time"

	"podd/pkg/item"
	"podd/pkg/store/rules"

	"go.etcd.io/bbolt"
)

// FoldWithin is how long an equal alert after an alert is a repetition.
const FoldWithin = time.Hour

// movedKept is about how many old sequences of repeated alerts are remembered, so that a
// client that knows one can still acknowledge the alert.
const movedKept = 10_000

// FoldAlert is the rule for repeated alerts, which every store applies in the transaction
// that writes an alert. If a repeats old, the newest alert of its chain, folded is a with
// the counts of both, and replaces old.
func FoldAlert(a, old item.Alert) (folded item.Alert, repeats bool) {
	same := a.Pod == old.Pod && a.Level == old.Level && a.Source == old.Source && a.Text == old.Text
	if !same || old.Acked || a.Time.Sub(old.Time) > FoldWithin {
		return a, false
	}
	a.Count += old.Count
	return a, true
}

// fold removes the alert that a repeats, if any, and adds up the counts.
func fold(tx *bbolt.Tx, a item.Alert) (item.Alert, error) {
	name := rules.ChainName(a)
	if old, ok := chainEnd(tx, name); ok {
		if folded, repeats := FoldAlert(a, old); repeats {
			a = folded
			if err := moveAlert(tx, old, a.Seq); err != nil {
				return item.Alert{}, err
			}
		}
	}
	return a, tx.Bucket(bucketChains).Put(name, seqKey(a.Seq))
}

// moveAlert removes an alert that got a new sequence, and remembers that sequence.
func moveAlert(tx *bbolt.Tx, old item.Alert, to item.Seq) error {
	if err := tx.Bucket(bucketAlerts).Delete(seqKey(old.Seq)); err != nil {
		return err
	}
	if old.Pod != "" {
		if err := tx.Bucket(bucketPodAlerts).Delete(podSeqKey(old.Pod, old.Seq)); err != nil {
			return err
		}
	}
	moved := tx.Bucket(bucketMoved)
	moved.FillPercent = fullPages
	if err := moved.Put(seqKey(old.Seq), seqKey(to)); err != nil {
		return err
	}
	if oldest, _ := moved.Cursor().First(); seqOf(oldest)+movedKept < to {
		return moved.Delete(bytes.Clone(oldest))
	}
	return nil
}

// chainEnd is the newest of equal alerts; ok is false if none exists or it is damaged.
func chainEnd(tx *bbolt.Tx, name []byte) (a item.Alert, ok bool) {
	seq := seqOf(tx.Bucket(bucketChains).Get(name))
	sealed := tx.Bucket(bucketAlerts).Get(seqKey(seq))
	if sealed == nil {
		return item.Alert{}, false
	}
	a, err := decodeAlert(seq, sealed)
	return a, err == nil
}

// endChain makes the next alert that equals a start a new chain.
func endChain(tx *bbolt.Tx, a item.Alert) error {
	name, chains := rules.ChainName(a), tx.Bucket(bucketChains)
	if seqOf(chains.Get(name)) != a.Seq {
		return nil
	}
	return chains.Delete(name)
}

// alertOf finds the alert that has a sequence, or had it before it was repeated. found is
// false if it was then deleted with its pod.
func alertOf(tx *bbolt.Tx, seq item.Seq) (a item.Alert, found bool, err error) {
	alerts, moved := tx.Bucket(bucketAlerts), tx.Bucket(bucketMoved)
	// Each step leads to a later sequence.
	for at, known := seq, false; ; known = true {
		if sealed := alerts.Get(seqKey(at)); sealed != nil {
			a, err := decodeAlert(at, sealed)
			return a, err == nil, err
		}
		next := seqOf(moved.Get(seqKey(at)))
		switch {
		case next > at:
			at = next
		case known:
			return item.Alert{}, false, nil
		default:
			return item.Alert{}, false, rules.NoAlert(seq)
		}
	}
}
