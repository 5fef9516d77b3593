package storetest

import (
	"errors"
	"fmt"
	"sync"

	"podd/pkg/item"
	"podd/pkg/store"
)

const (
	concurrentPods    = 40
	concurrentBatches = 12
)

// Many pods that append at the same time do not affect each other: each log has its own
// entries in order and without a gap, a refused batch changes nothing for its neighbours,
// alerts are numbered without a gap, and a reader never sees half a batch.
func manyPodsAtOnce(f *fixture) {
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	errs := &errorList{}
	pods := make([]*owned, concurrentPods)
	for n := range pods {
		pods[n] = f.pod(fmt.Sprintf("p%02d", n))
	}
	for n, p := range pods {
		writers.Go(func() { errs.add(appendMany(p, n)) })
	}
	for n := range 4 {
		readers.Go(func() { errs.add(readWhile(stop, pods[n])) })
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	f.must(errs.join())

	for range 2 {
		for n, p := range pods {
			want := numbered(1, everyBatch(n)...)
			got := p.log()
			for i, e := range got {
				if a, ok := e.Kind.(item.AlertRaised); ok {
					a.Alert.Seq = 0
					got[i].Kind = a
				}
			}
			equal(f, "log of "+p.id, got, want)
		}
		var want []item.Seq
		for n := range item.Seq(concurrentPods * concurrentBatches) {
			want = append(want, n+1)
		}
		equal(f, "alerts", f.alertSeqs(store.AlertQuery{}), want)
		f.reopen()
	}
}

// batchOf is the m-th batch of the n-th pod: two entries, one an alert.
func batchOf(n, m int) []item.Entry {
	return []item.Entry{note(1000*n + m), raised(fmt.Sprintf("alert %d of %d", m, n))}
}

// everyBatch is the final content of the n-th pod's log.
func everyBatch(n int) []item.Entry {
	var all []item.Entry
	for m := range concurrentBatches {
		for _, e := range batchOf(n, m) {
			if a, ok := e.Kind.(item.AlertRaised); ok {
				a.Alert.Pod, a.Alert.Count = fmt.Sprintf("p%02d", n), 1
				e.Kind = a
			}
			all = append(all, e)
		}
	}
	return all
}

func appendMany(p *owned, n int) error {
	for m := range concurrentBatches {
		_, err := p.try(store.Batch{Epoch: p.epoch + 7, Entries: batchOf(n, m)})
		if item.ReasonOf(err) != store.ReasonStaleEpoch {
			return fmt.Errorf("pod %s, stale batch %d: %w", p.id, m, errors.Join(err, errors.New("want STALE_EPOCH")))
		}
		out, err := p.try(store.Batch{Entries: batchOf(n, m)})
		if err != nil {
			return fmt.Errorf("pod %s, batch %d: %w", p.id, m, err)
		}
		if len(out.Records) != 2 || out.Records[0].Seq != item.Seq(2*m+1) {
			return fmt.Errorf("pod %s, batch %d has the records %v", p.id, m, seqs(out.Records))
		}
	}
	return nil
}

// readWhile reads a pod until stop is closed.
func readWhile(stop <-chan struct{}, p *owned) error {
	for last := item.Seq(0); ; {
		select {
		case <-stop:
			return nil
		default:
		}
		page, err := p.f.s.Read(p.f.Context(), p.id, last, 0)
		if err != nil {
			return fmt.Errorf("read pod %s after %d: %w", p.id, last, err)
		}
		if len(page)%2 != 0 {
			return fmt.Errorf("read pod %s after %d: %d records, half a batch", p.id, last, len(page))
		}
		for _, r := range page {
			if last++; r.Seq != last {
				return fmt.Errorf("read pod %s: record %d, want %d", p.id, r.Seq, last)
			}
		}
	}
}

// Of many concurrent calls that admit one request id, one wins and all others get its
// answer.
func raceForOneRequestID(f *fixture) {
	p := f.pod("p")
	const callers = 50
	var wg sync.WaitGroup
	var mu sync.Mutex
	errs := &errorList{}
	written, duplicates := 0, 0
	for range callers {
		wg.Go(func() {
			out, err := p.try(admission("r", "hello"))
			errs.add(err)
			mu.Lock()
			defer mu.Unlock()
			if len(out.Records) == 1 {
				written++
			}
			if out.Duplicate != nil && out.Duplicate.Seq == 1 {
				duplicates++
			}
		})
	}
	wg.Wait()
	f.must(errs.join())
	equal(f, "written and duplicates", [2]int{written, duplicates}, [2]int{1, callers - 1})
	equal(f, "inbox", p.inbox(), []item.Seq{1})
}

// errorList collects errors of goroutines, which must not end a test themselves.
type errorList struct {
	mu   sync.Mutex
	errs []error
}

func (l *errorList) add(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

func (l *errorList) join() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.errs...)
}
