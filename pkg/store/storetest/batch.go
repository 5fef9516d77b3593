package storetest

import (
	"context"
	"errors"

	"podd/pkg/item"
	"podd/pkg/store"
)

// A batch that contradicts itself is refused before anything is written.
func badBatchesAreRefused(f *fixture) {
	p := f.pod("p")
	sub := submitted("r", "hello")
	withSeq := note(1)
	withSeq.Seq = 1
	bad := map[string]store.Batch{
		"a sequence":               {Entries: []item.Entry{withSeq}},
		"no kind":                  {Entries: []item.Entry{note(1), {}}},
		"an unknown kind":          {Entries: []item.Entry{{Kind: item.UnknownKind{}}}},
		"admit without an entry":   {Admit: &store.Request{ID: "r"}},
		"admit of a note":          {Admit: &store.Request{ID: "r"}, Entries: []item.Entry{note(1), sub}},
		"admit of another request": {Admit: &store.Request{ID: "s"}, Entries: []item.Entry{sub}},
		"enqueue of a note":        {Enqueue: true, Entries: []item.Entry{note(1)}},
		"enqueue without an entry": {Enqueue: true},
	}
	for what, b := range bad {
		if _, err := p.try(b); item.KindOf(err) != item.KindInvalid || item.ReasonOf(err) != store.ReasonBadBatch {
			f.Errorf("a batch with %s gives %v, want reason %s", what, err, store.ReasonBadBatch)
		}
	}
	equal(f, "log", p.log(), nil)
}

// A batch is written whole or not at all: when one part is refused, nothing of it exists,
// neither at once nor after the next batch, nor after reopening.
func refusedBatchLeavesNoTrace(f *fixture) {
	p := f.pod("p")
	waiting := p.submit("first", "hello")
	p.append(note(1))
	before := p.record()
	status := item.PodStatus{State: item.StateRunning, LastActivity: at(99)}
	rest := store.Batch{
		Entries:    []item.Entry{submitted("second", "again"), raised("alert"), note(3)},
		Admit:      &store.Request{ID: "second", Digest: digest("again")},
		Enqueue:    true,
		InboxLimit: 1,
		Status:     &status,
	}
	full := rest
	missing := rest
	missing.InboxLimit, missing.Dequeue = 0, []item.Seq{waiting, 2}
	twice := rest
	twice.InboxLimit, twice.Dequeue = 0, []item.Seq{waiting, waiting}
	stale := rest
	stale.Epoch = p.epoch + 1
	taken := rest
	taken.Entries = []item.Entry{submitted("first", "other"), note(3)}
	taken.Admit = &store.Request{ID: "first", Digest: digest("other")}
	for reason, b := range map[string]store.Batch{
		store.ReasonInboxFull:      full,
		store.ReasonNotWaiting:     missing,
		store.ReasonStaleEpoch:     stale,
		store.ReasonRequestIDTaken: taken,
	} {
		if _, err := p.try(b); item.ReasonOf(err) != reason {
			f.Errorf("error %v, want reason %s", err, reason)
		}
	}
	_, err := p.try(twice)
	f.refused(err, item.KindNotFound, store.ReasonNotWaiting)
	for range 2 {
		equal(f, "record", p.record(), before)
		equal(f, "log", p.log(), numbered(1, submitted("first", "hello"), note(1)))
		equal(f, "inbox", p.inbox(), []item.Seq{waiting})
		_, ok, err := f.s.Request(f.Context(), "p", "second")
		f.must(err)
		equal(f, "second is known", ok, false)
		alerts, err := f.s.Alerts(f.Context(), store.AlertQuery{})
		f.must(err)
		equal(f, "alerts", len(alerts), 0)
		f.reopen()
	}
	equal(f, "next sequence", p.append(note(4)).Records[0].Seq, 3)
}

// A call whose context has ended writes nothing and says why.
func cancelledIsNotWritten(f *fixture) {
	p := f.pod("p")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(f.Context())
	cancel(cause)
	_, err := f.s.Append(ctx, store.Batch{Pod: "p", Epoch: p.epoch, Entries: []item.Entry{note(1)}})
	if !errors.Is(err, context.Canceled) {
		f.Errorf("append gives %v, want %v", err, context.Canceled)
	}
	if err := f.s.CreatePod(ctx, item.Pod{ID: "q", Name: "q"}); !errors.Is(err, context.Canceled) {
		f.Errorf("create gives %v, want %v", err, context.Canceled)
	}
	if _, err := f.s.Read(ctx, "p", 0, 1); !errors.Is(err, context.Canceled) {
		f.Errorf("read gives %v, want %v", err, context.Canceled)
	}
	equal(f, "log", p.log(), nil)
	pods, err := f.s.Pods(f.Context())
	f.must(err)
	equal(f, "pods", len(pods), 1)
}

// A closed store answers every call with KindUnavailable, can be closed again, and has
// not failed.
func closedRefuses(f *fixture) {
	p := f.pod("p")
	s := f.s
	f.close()
	ctx := f.Context()
	calls := map[string]func() error{
		"CreatePod":  func() error { return s.CreatePod(ctx, item.Pod{ID: "q", Name: "q"}) },
		"UpdateSpec": func() error { return s.UpdateSpec(ctx, "p", item.PodSpec{}) },
		"RenamePod":  func() error { return s.RenamePod(ctx, "p", "x") },
		"DeletePod":  func() error { return s.DeletePod(ctx, "p") },
		"Pod":        func() error { _, err := s.Pod(ctx, "p"); return err },
		"Pods":       func() error { _, err := s.Pods(ctx); return err },
		"Claim":      func() error { _, err := s.Claim(ctx, "p"); return err },
		"Append":     func() error { _, err := s.Append(ctx, store.Batch{Pod: "p", Epoch: p.epoch}); return err },
		"Read":       func() error { _, err := s.Read(ctx, "p", 0, 1); return err },
		"Inbox":      func() error { _, err := s.Inbox(ctx, "p"); return err },
		"Request":    func() error { _, _, err := s.Request(ctx, "p", "r"); return err },
		"RaiseAlert": func() error { _, err := s.RaiseAlert(ctx, item.Alert{}); return err },
		"Alerts":     func() error { _, err := s.Alerts(ctx, store.AlertQuery{}); return err },
		"AckAlerts":  func() error { return s.AckAlerts(ctx, nil) },
	}
	for name, call := range calls {
		if err := call(); item.KindOf(err) != item.KindUnavailable || item.ReasonOf(err) != store.ReasonClosed {
			f.Errorf("%s of a closed store gives %v, want reason %s", name, err, store.ReasonClosed)
		}
	}
	f.must(s.Close())
	select {
	case <-s.Failed():
		f.Errorf("a closed store says that it failed")
	default:
	}
}
