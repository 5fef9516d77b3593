package store

import (
	"bytes"
	"context"

	"podd/pkg/item"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// alertPage is how many alerts one read transaction visits, and alertLimit how many a
// query without a limit returns.
const (
	alertPage  = 1000
	alertLimit = 1000
)

// RaiseAlert stores an alert that is not part of a pod's log.
func (s *Bolt) RaiseAlert(ctx context.Context, a item.Alert) (item.Alert, error) {
	c := raiseAlert{alert: a}
	if err := s.do(ctx, &c); err != nil {
		return item.Alert{}, s.fileFault(err)
	}
	return c.alert, nil
}

type raiseAlert struct{ alert item.Alert }

func (c *raiseAlert) size() int { return len(c.alert.Text) }

func (c *raiseAlert) check(tx *bbolt.Tx) (bool, error) {
	if c.alert.Pod != "" && tx.Bucket(bucketHeads).Get([]byte(c.alert.Pod)) == nil {
		return false, rules.NoPod(c.alert.Pod)
	}
	return true, nil
}

func (c *raiseAlert) write(tx *bbolt.Tx) (err error) {
	c.alert, err = storeNewAlert(tx, c.alert)
	return err
}

// storeNewAlert gives an alert the next sequence and stores it. If it repeats an alert, it
// replaces that one.
func storeNewAlert(tx *bbolt.Tx, a item.Alert) (item.Alert, error) {
	alerts := tx.Bucket(bucketAlerts)
	alerts.FillPercent = fullPages
	next, err := alerts.NextSequence()
	if err != nil {
		return item.Alert{}, err
	}
	a.Seq = item.Seq(next)
	a.Count = max(a.Count, 1)
	if a, err = fold(tx, a); err != nil {
		return item.Alert{}, err
	}
	if err := storeAlert(tx, a); err != nil {
		return item.Alert{}, err
	}
	if a.Pod == "" {
		return a, nil
	}
	return a, tx.Bucket(bucketPodAlerts).Put(podSeqKey(a.Pod, a.Seq), []byte{})
}

func storeAlert(tx *bbolt.Tx, a item.Alert) error {
	body, err := wire.EncodeAlert(a)
	if err != nil {
		return err
	}
	key := seqKey(a.Seq)
	return tx.Bucket(bucketAlerts).Put(key, wire.Seal(bucketAlerts, key, body))
}

// decodeAlert reads a sealed alert.
func decodeAlert(seq item.Seq, sealed []byte) (item.Alert, error) {
	body, ok := wire.Unseal(bucketAlerts, seqKey(seq), sealed)
	if ok {
		if a, err := wire.DecodeAlert(body); err == nil {
			return a, nil
		}
	}
	return item.Alert{}, rules.Alert(seq)
}

// Alerts returns alerts in order of their sequences. A damaged one is returned as an alert
// that says so.
func (s *Bolt) Alerts(ctx context.Context, q AlertQuery) ([]item.Alert, error) {
	if q.Limit <= 0 {
		q.Limit = alertLimit
	}
	if q.After < 0 {
		q.After = 0
	}
	var found []item.Alert
	for {
		var page []alertRow
		err := s.view(ctx, func(tx *bbolt.Tx) error {
			if last := tx.Bucket(bucketAlerts).Sequence(); uint64(q.After) > last {
				return rules.BeyondAlerts(q.After, item.Seq(last))
			}
			page = alertRows(tx, q)
			return nil
		})
		if err != nil {
			return nil, s.fileFault(err)
		}
		for _, row := range page {
			a := row.alert(q.Pod)
			if q.Unacked && a.Acked {
				continue
			}
			if found = append(found, a); len(found) == q.Limit {
				return found, nil
			}
		}
		if len(page) < alertPage {
			return found, nil
		}
		q.After = page[len(page)-1].seq
	}
}

// alertRow is a copy of a stored alert.
type alertRow struct {
	seq    item.Seq
	sealed []byte
}

func (r alertRow) alert(pod string) item.Alert {
	a, err := decodeAlert(r.seq, r.sealed)
	if err != nil {
		return item.Alert{Seq: r.seq, Pod: pod, Level: item.LevelError, Source: "store", Text: err.Error(), Count: 1}
	}
	return a
}

// alertRows copies the next alerts, of one pod or of all.
func alertRows(tx *bbolt.Tx, q AlertQuery) []alertRow {
	alerts := tx.Bucket(bucketAlerts)
	var rows []alertRow
	if q.Pod == "" {
		c := alerts.Cursor()
		for k, v := c.Seek(seqKey(q.After + 1)); k != nil && len(rows) < alertPage; k, v = c.Next() {
			rows = append(rows, alertRow{seqOf(k), bytes.Clone(v)})
		}
		return rows
	}
	prefix := podKey(q.Pod)
	c := tx.Bucket(bucketPodAlerts).Cursor()
	for k, _ := c.Seek(podSeqKey(q.Pod, q.After+1)); bytes.HasPrefix(k, prefix) && len(rows) < alertPage; k, _ = c.Next() {
		rows = append(rows, alertRow{seqOf(k), bytes.Clone(alerts.Get(seqKey(seqOf(k))))})
	}
	return rows
}

// AckAlerts acknowledges alerts.
func (s *Bolt) AckAlerts(ctx context.Context, seqs []item.Seq) error {
	return s.fileFault(s.do(ctx, &ackAlerts{seqs: seqs}))
}

type ackAlerts struct {
	seqs []item.Seq
	// unacked are those that must be written.
	unacked []item.Alert
}

func (c *ackAlerts) size() int { return 200 * len(c.seqs) }

func (c *ackAlerts) check(tx *bbolt.Tx) (bool, error) {
	c.unacked = nil
	for _, seq := range c.seqs {
		a, found, err := alertOf(tx, seq)
		if err != nil {
			return false, err
		}
		if found && !a.Acked {
			c.unacked = append(c.unacked, a)
		}
	}
	return len(c.unacked) > 0, nil
}

func (c *ackAlerts) write(tx *bbolt.Tx) error {
	for _, a := range c.unacked {
		a.Acked = true
		if err := storeAlert(tx, a); err != nil {
			return err
		}
		if err := endChain(tx, a); err != nil {
			return err
		}
	}
	return nil
}
