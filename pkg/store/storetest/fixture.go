package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// at is a time that differs by n.
func at(n int) time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC).Add(time.Duration(n) * time.Millisecond)
}

// note is an entry that differs by n.
func note(n int) item.Entry {
	return item.Entry{Time: at(n), Kind: item.Note{Text: fmt.Sprintf("note %d", n)}}
}

func submitted(requestID, text string) item.Entry {
	return item.Entry{Time: at(len(text)), Kind: item.Submitted{RequestID: requestID, Mode: item.ModeQueue, Text: text}}
}

func raised(text string) item.Entry {
	return item.Entry{Time: at(0), Kind: item.AlertRaised{
		Alert: item.Alert{Level: item.LevelWarn, Source: "turn", Text: text, Time: at(1)},
	}}
}

func digest(text string) (d [32]byte) {
	copy(d[:], text)
	return d
}

// owned is a pod whose log the test claimed.
type owned struct {
	f     *fixture
	id    string
	epoch store.Epoch
}

// pod makes a pod and claims it.
func (f *fixture) pod(id string) *owned {
	f.Helper()
	f.must(f.s.CreatePod(f.Context(), item.Pod{ID: id, Name: "name-of-" + id, CreatedAt: at(0)}))
	return f.claim(id)
}

func (f *fixture) claim(id string) *owned {
	f.Helper()
	epoch, err := f.s.Claim(f.Context(), id)
	f.must(err)
	return &owned{f: f, id: id, epoch: epoch}
}

// try appends a batch with the pod's id and, unless it has one, its epoch.
func (p *owned) try(b store.Batch) (store.Appended, error) {
	b.Pod = p.id
	if b.Epoch == 0 {
		b.Epoch = p.epoch
	}
	return p.f.s.Append(p.f.Context(), b)
}

func (p *owned) batch(b store.Batch) store.Appended {
	p.f.Helper()
	out, err := p.try(b)
	p.f.must(err)
	return out
}

func (p *owned) append(entries ...item.Entry) store.Appended {
	p.f.Helper()
	return p.batch(store.Batch{Entries: entries})
}

// submit puts a submit into the inbox and returns its sequence.
func (p *owned) submit(requestID, text string) item.Seq {
	p.f.Helper()
	out := p.batch(admission(requestID, text))
	if len(out.Records) != 1 {
		p.f.Fatalf("a submit gave %d records, want 1", len(out.Records))
	}
	return out.Records[0].Seq
}

// admission is the batch of a submit.
func admission(requestID, text string) store.Batch {
	return store.Batch{
		Entries: []item.Entry{submitted(requestID, text)},
		Admit:   &store.Request{ID: requestID, Digest: digest(text), Queued: true},
		Enqueue: true,
	}
}

// log reads the whole log, page by page.
func (p *owned) log() []item.Entry {
	p.f.Helper()
	var entries []item.Entry
	for after := max(p.record().First, 1) - 1; ; {
		page, err := p.f.s.Read(p.f.Context(), p.id, after, 7)
		p.f.must(err)
		if len(page) == 0 {
			return entries
		}
		entries = append(entries, decode(p.f, page)...)
		after = page[len(page)-1].Seq
	}
}

// inbox returns the sequences of the waiting submits.
func (p *owned) inbox() []item.Seq {
	p.f.Helper()
	waiting, err := p.f.s.Inbox(p.f.Context(), p.id)
	p.f.must(err)
	var seqs []item.Seq
	for _, w := range waiting {
		e, err := w.Decode()
		p.f.must(err)
		if _, ok := e.Kind.(item.Submitted); !ok || e.Seq != w.Seq {
			p.f.Errorf("the inbox of %s holds %#v at seq %d, want a submit of that seq", p.id, e, w.Seq)
		}
		seqs = append(seqs, w.Seq)
	}
	return seqs
}

func (p *owned) record() item.Pod {
	p.f.Helper()
	pod, err := p.f.s.Pod(p.f.Context(), p.id)
	p.f.must(err)
	return pod
}

// decode reads records and checks that each has its own sequence.
func decode(t T, records []store.Record) []item.Entry {
	t.Helper()
	entries := make([]item.Entry, len(records))
	for i, r := range records {
		e, err := r.Decode()
		if err != nil {
			t.Fatalf("decode record %d: %v", r.Seq, err)
		}
		if e.Seq != r.Seq {
			t.Errorf("record %d holds an entry with seq %d", r.Seq, e.Seq)
		}
		entries[i] = e
	}
	return entries
}

// numbered gives entries consecutive sequences beginning with first.
func numbered(first item.Seq, entries ...item.Entry) []item.Entry {
	out := make([]item.Entry, len(entries))
	for i, e := range entries {
		e.Seq = first + item.Seq(i)
		out[i] = e
	}
	return out
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("unexpected error: %v (reason %q, cause %v)", err, item.ReasonOf(err), errors.Unwrap(err))
	}
}

// refused checks the kind and the reason of an error.
func (f *fixture) refused(err error, kind item.ErrorKind, reason string) {
	f.Helper()
	if err == nil {
		f.Fatalf("no error, want reason %s", reason)
	}
	if item.KindOf(err) != kind || item.ReasonOf(err) != reason {
		f.Fatalf("error %q has kind %s and reason %q, want %s and %q", err, item.KindOf(err), item.ReasonOf(err), kind, reason)
	}
}

// equal compares values that share no memory with the store.
func equal[V any](t T, what string, got, want V) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func seqs(records []store.Record) []item.Seq {
	out := make([]item.Seq, len(records))
	for i, r := range records {
		out[i] = r.Seq
	}
	return out
}
