package storetest_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/storetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// broken is a store with one method of a defective one.
type broken struct {
	store.Store
	append func(s store.Store, ctx context.Context, b store.Batch) (store.Appended, error)
	read   func(s store.Store, ctx context.Context, pod string, after item.Seq, limit int) ([]store.Record, error)
	ack    func(s store.Store, ctx context.Context, seqs []item.Seq) error
	raise  func(s store.Store, ctx context.Context, a item.Alert) (item.Alert, error)
	fork   func(s store.Store, ctx context.Context, parent string, at item.Seq, p item.Pod) error
	purge  func(s store.Store, ctx context.Context, p store.Purge) error
	delete func(s store.Store, ctx context.Context, pod string) error
}

func (b broken) Fork(ctx context.Context, parent string, at item.Seq, p item.Pod) error {
	if b.fork == nil {
		return b.Store.Fork(ctx, parent, at, p)
	}
	return b.fork(b.Store, ctx, parent, at, p)
}

func (b broken) DeletePod(ctx context.Context, pod string) error {
	if b.delete == nil {
		return b.Store.DeletePod(ctx, pod)
	}
	return b.delete(b.Store, ctx, pod)
}

func (b broken) Purge(ctx context.Context, p store.Purge) error {
	if b.purge == nil {
		return b.Store.Purge(ctx, p)
	}
	return b.purge(b.Store, ctx, p)
}

func (b broken) RaiseAlert(ctx context.Context, a item.Alert) (item.Alert, error) {
	if b.raise == nil {
		return b.Store.RaiseAlert(ctx, a)
	}
	return b.raise(b.Store, ctx, a)
}

func (b broken) Append(ctx context.Context, batch store.Batch) (store.Appended, error) {
	if b.append == nil {
		return b.Store.Append(ctx, batch)
	}
	return b.append(b.Store, ctx, batch)
}

func (b broken) Read(ctx context.Context, pod string, after item.Seq, limit int) ([]store.Record, error) {
	if b.read == nil {
		return b.Store.Read(ctx, pod, after, limit)
	}
	return b.read(b.Store, ctx, pod, after, limit)
}

func (b broken) AckAlerts(ctx context.Context, seqs []item.Seq) error {
	if b.ack == nil {
		return b.Store.AckAlerts(ctx, seqs)
	}
	return b.ack(b.Store, ctx, seqs)
}

// The suite finds a store with one defect: the check named for the property fails, and
// passes on the store without the defect.
func TestSuiteNoticesDefects(t *testing.T) {
	for check, defect := range map[string]broken{
		"EpochsFence": {append: func(s store.Store, ctx context.Context, b store.Batch) (store.Appended, error) {
			if b.Epoch == 1 {
				b.Epoch, _ = s.Claim(ctx, b.Pod)
			}
			return s.Append(ctx, b)
		}},
		"InboxIsBounded": {append: func(s store.Store, ctx context.Context, b store.Batch) (store.Appended, error) {
			b.InboxLimit = 0
			return s.Append(ctx, b)
		}},
		"RequestIDsAreAdmittedOnce": {append: func(s store.Store, ctx context.Context, b store.Batch) (store.Appended, error) {
			b.Admit = nil
			return s.Append(ctx, b)
		}},
		"RefusedBatchLeavesNoTrace": {append: func(s store.Store, ctx context.Context, b store.Batch) (store.Appended, error) {
			out, err := s.Append(ctx, b)
			if item.ReasonOf(err) == store.ReasonInboxFull {
				_, _ = s.Append(ctx, store.Batch{Pod: b.Pod, Epoch: b.Epoch, Entries: b.Entries})
			}
			return out, err
		}},
		"StatusGoesWithTheBatch": {append: func(s store.Store, ctx context.Context, b store.Batch) (store.Appended, error) {
			b.Status = nil
			return s.Append(ctx, b)
		}},
		"ReadRanges": {read: func(s store.Store, ctx context.Context, pod string, after item.Seq, limit int) ([]store.Record, error) {
			return s.Read(ctx, pod, max(after-1, 0), limit)
		}},
		"ReadIsBounded": {read: func(s store.Store, ctx context.Context, pod string, after item.Seq, limit int) ([]store.Record, error) {
			page, err := s.Read(ctx, pod, after, limit)
			if err != nil || len(page) == 0 {
				return page, err
			}
			more, err := s.Read(ctx, pod, page[len(page)-1].Seq, limit)
			return append(page, more...), err
		}},
		"AlertsAreAcknowledged": {ack: func(s store.Store, ctx context.Context, seqs []item.Seq) error {
			var err error
			for _, seq := range seqs {
				err = s.AckAlerts(ctx, []item.Seq{seq})
			}
			return err
		}},
		"AlertsAreFolded": {raise: func(s store.Store, ctx context.Context, a item.Alert) (item.Alert, error) {
			got, err := s.RaiseAlert(ctx, a)
			got.Count = 1
			return got, err
		}},
		"OldSequencesAcknowledge": {ack: func(s store.Store, ctx context.Context, seqs []item.Seq) error {
			alerts, err := s.Alerts(ctx, store.AlertQuery{})
			if err != nil {
				return err
			}
			known := func(a item.Alert) bool { return slices.Contains(seqs, a.Seq) }
			if !slices.ContainsFunc(alerts, known) {
				return nil
			}
			return s.AckAlerts(ctx, seqs)
		}},
		// One entry too many is shared.
		"ForksShareTheLog": {fork: func(s store.Store, ctx context.Context, parent string, at item.Seq, p item.Pod) error {
			if pod, err := s.Pod(ctx, parent); err == nil && pod.Last > at {
				at++
			}
			return s.Fork(ctx, parent, at, p)
		}},
		// The fork is already claimed.
		"ForksShareNothingElse": {fork: func(s store.Store, ctx context.Context, parent string, at item.Seq, p item.Pod) error {
			if err := s.Fork(ctx, parent, at, p); err != nil {
				return err
			}
			_, err := s.Claim(ctx, p.ID)
			return err
		}},
		// Deleting a pod deletes its forks.
		"ForksOutliveTheirParent": {delete: func(s store.Store, ctx context.Context, pod string) error {
			pods, err := s.Pods(ctx)
			for _, p := range pods {
				if pod == "p" && p.ID != pod {
					err = errors.Join(err, s.DeletePod(ctx, p.ID))
				}
			}
			return errors.Join(err, s.DeletePod(ctx, pod))
		}},
		// Nothing is removed.
		"PurgedRangesAreGone": {purge: func(store.Store, context.Context, store.Purge) error { return nil }},
		// Other pods lose what they share.
		"ForksKeepWhatIsPurged": {purge: func(s store.Store, ctx context.Context, p store.Purge) error {
			pods, err := s.Pods(ctx)
			for _, fork := range pods {
				if fork.ID != p.Pod {
					q := p
					q.Pod, q.Last, q.UpTo = fork.ID, fork.Last, min(p.UpTo, fork.Last)
					_ = s.Purge(ctx, q)
				}
			}
			return errors.Join(err, s.Purge(ctx, p))
		}},
		// A rewind does not remove it.
		"BasesStandForWhatIsThere": {append: func(s store.Store, ctx context.Context, b store.Batch) (store.Appended, error) {
			kept, ok, err := s.Base(ctx, b.Pod)
			if err != nil {
				return store.Appended{}, err
			}
			if ok && b.Base == nil {
				defer func() { _, _ = s.Append(ctx, store.Batch{Pod: b.Pod, Epoch: b.Epoch, Base: &kept}) }()
			}
			return s.Append(ctx, b)
		}},
		// It is lost with the fork.
		"ForksHaveTheBase": {fork: func(s store.Store, ctx context.Context, parent string, at item.Seq, p item.Pod) error {
			if err := s.Fork(ctx, parent, at, p); err != nil {
				return err
			}
			epoch, err := s.Claim(ctx, p.ID)
			if err == nil {
				_, err = s.Append(ctx, store.Batch{Pod: p.ID, Epoch: epoch, Entries: []item.Entry{{Kind: item.Rewind{}}}})
			}
			return err
		}},
		// A refused one is stored anyway.
		"BadBasesAreRefused": {append: func(s store.Store, ctx context.Context, b store.Batch) (store.Appended, error) {
			out, err := s.Append(ctx, b)
			if b.Base != nil && item.ReasonOf(err) == store.ReasonBadBatch {
				b.Base = nil
				return s.Append(ctx, b)
			}
			return out, err
		}},
		// The decision for a shorter log is applied to a longer one.
		"BadPurgesAreRefused": {purge: func(s store.Store, ctx context.Context, p store.Purge) error {
			if pod, err := s.Pod(ctx, p.Pod); err == nil {
				p.Last = pod.Last
			}
			return s.Purge(ctx, p)
		}},
		// Later records are read first.
		"SequencesAreDense": {read: func(s store.Store, ctx context.Context, pod string, after item.Seq, limit int) ([]store.Record, error) {
			page, err := s.Read(ctx, pod, after, limit)
			slices.Reverse(page)
			return page, err
		}},
	} {
		t.Run(check, func(t *testing.T) {
			if notes := record(t, check, broken{}); notes != "" {
				t.Errorf("the whole store fails:\n%s", notes)
			}
			notes := record(t, check, defect)
			if notes == "" {
				t.Error("the check passes")
			}
			t.Log(notes)
		})
	}
}

// record runs one check over stores with a defect.
func record(t *testing.T, name string, defect broken) string {
	t.Helper()
	checks := storetest.Checks()
	i := slices.IndexFunc(checks, func(c storetest.Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no check %s", name)
	}
	return storetest.Record(t.Context(), checks[i], func(dir string) (store.Store, error) {
		s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(dir, "podd.db")})
		b := defect
		b.Store = s
		return b, err
	}).Notes()
}
