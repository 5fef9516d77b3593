package pod_test

import (
	"log/slog"
	"math"
	"reflect"
	"testing"
	"time"

	"podd/internal/ops/retention"
	"podd/internal/report"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// sweep removes everything that may be removed.
func (h *house) sweep() {
	h.t.Helper()
	sweeper := retention.Sweeper{
		Store: h.store, Policy: retention.Policy{Bytes: 1}, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	if err := sweeper.Sweep(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// A pod whose older entries were removed continues as if they were there: it sends the
// same bytes, has used the same, continues its turn numbers, and its log begins with the
// mark.
func TestPurgedLog(t *testing.T) {
	h := newHouse(t, summarizer(1<<30, readLoop(5)), priced(map[string]float64{"m": 1, "small": 2}))
	h.writeBig()
	h.run("one")
	h.run("two")
	if _, err := h.host.Compact(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	// The log does not have the text sent earlier: without a reload the pod knows more of
	// it.
	h.restart()
	told := func() (body string, stats report.Stats, p item.Pod) {
		t.Helper()
		c, err := h.host.Context(t.Context(), "p")
		if err != nil {
			t.Fatal(err)
		}
		if stats, err = report.Count(t.Context(), h.host, "p"); err != nil {
			t.Fatal(err)
		}
		if p, err = h.host.Get(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
		return string(c.Body), stats, p
	}
	body, stats, before := told()
	h.sweep()
	for range 2 {
		gotBody, gotStats, p := told()
		if p.First <= 1 || p.Last != before.Last || p.Status.Usage != before.Status.Usage {
			t.Fatalf("the pod is %+v, before %+v", p, before)
		}
		if gotBody != body {
			t.Errorf("the next request is\n%s\nwant\n%s", gotBody, body)
		}
		if math.Abs(gotStats.Cost-stats.Cost) < 1e-9 {
			gotStats.Cost = stats.Cost // The same sum in another order.
		}
		if !reflect.DeepEqual(gotStats, stats) {
			t.Errorf("stats are\n%+v\nwant\n%+v", gotStats, stats)
		}
		h.restart()
	}
	_, _, p := told()
	s := h.submit("three")
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("the turn ended with %+v", end)
	}
	if _, _, after := told(); after.Status.Turn != p.Status.Turn+1 || after.First != p.First {
		t.Errorf("after a turn the pod is %+v, before %+v", after, p)
	}
	for e, err := range h.host.Logs.Stream(t.Context(), pod.StreamQuery{Pod: "p"}) {
		if err == nil || item.ReasonOf(err) != "PURGED" {
			t.Errorf("a stream from the beginning gives %+v, error %v", e, err)
		}
		break
	}
	for e, err := range h.host.Logs.Stream(t.Context(), pod.StreamQuery{Pod: "p", After: p.First - 1}) {
		if err != nil || e.Record == nil || e.Record.Seq != p.First {
			t.Fatalf("the log begins with %+v, error %v", e, err)
		}
		if _, ok := h.decode(*e.Record).Kind.(item.Purged); !ok {
			t.Errorf("the log begins with %+v", h.decode(*e.Record))
		}
		break
	}
}
