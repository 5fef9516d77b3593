package hook_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"podd/pkg/hook"
	"podd/pkg/item"
)

// watcher collects events; gate, when set, blocks it at its first event.
type watcher struct {
	hook.Base
	name    string
	gate    chan struct{}
	entered chan struct{}
	seqs    []item.Seq
	alerts  int
	edges   int
	pods    int
	panics  bool
}

func (w *watcher) Name() string { return w.name }

func (w *watcher) Entry(_ string, e item.Entry) {
	if w.gate != nil {
		close(w.entered)
		<-w.gate
		w.gate = nil
	}
	w.seqs = append(w.seqs, e.Seq)
	if w.panics {
		panic("boom")
	}
}

func (w *watcher) Alert(item.Alert)  { w.alerts++ }
func (w *watcher) Edge(hook.Edge)    { w.edges++ }
func (w *watcher) Pod(hook.PodEvent) { w.pods++ }

func TestFanout(t *testing.T) {
	var log bytes.Buffer
	var alerts []string
	good, bad := &watcher{name: "good"}, &watcher{name: "bad", panics: true}
	f := hook.NewFanout(slog.New(slog.NewTextHandler(&log, nil)), func(text string) { alerts = append(alerts, text) }, bad, good)
	for seq := range item.Seq(100) {
		f.Entry("p", func() item.Entry { return item.Entry{Seq: seq} })
	}
	f.Alert(item.Alert{})
	f.Edge(hook.Edge{Name: hook.EdgeTurnEnd})
	f.Pod(hook.PodEvent{Change: hook.PodLoaded})
	f.Close(nil)
	for _, w := range []*watcher{good, bad} {
		if len(w.seqs) != 100 || w.alerts != 1 || w.edges != 1 || w.pods != 1 {
			t.Errorf("%s saw %d entries, %d alerts, %d edges, %d changes", w.name, len(w.seqs), w.alerts, w.edges, w.pods)
		}
		for i, seq := range w.seqs {
			if int(seq) != i {
				t.Fatalf("%s saw entry %d at place %d", w.name, seq, i)
			}
		}
	}
	if len(alerts) != 1 || !strings.Contains(alerts[0], "hook bad failed (panic: boom)") {
		t.Errorf("alerts %q, want one", alerts)
	}
	if !strings.Contains(log.String(), "hook=bad") || !strings.Contains(log.String(), "boom") {
		t.Errorf("the panic is not logged: %s", log.String())
	}
}

// A hanging hook delays no other: events beyond its queue are dropped and counted, and
// Close stops waiting for it.
func TestHangingHook(t *testing.T) {
	hangs := &watcher{name: "hangs", gate: make(chan struct{}), entered: make(chan struct{})}
	gate := hangs.gate
	alerts := make(chan string, 10)
	f := hook.NewFanout(slog.New(slog.DiscardHandler), func(text string) { alerts <- text }, hangs)
	f.Entry("p", func() item.Entry { return item.Entry{Seq: 1} })
	<-hangs.entered
	const extra = 7
	for range hook.QueueLen + extra {
		f.Alert(item.Alert{})
	}
	if got := f.Dropped()["hangs"]; got != extra {
		t.Errorf("dropped %d, want %d", got, extra)
	}
	if got := <-alerts; got != "hook hangs is too slow: events are dropped for it" || len(alerts) != 0 {
		t.Errorf("alert %q and %d more", got, len(alerts))
	}
	giveUp := make(chan struct{})
	close(giveUp)
	f.Close(giveUp)
	close(gate)
}

func TestNilFanout(t *testing.T) {
	var f *hook.Fanout
	f.Entry("p", func() item.Entry { return item.Entry{} })
	f.Alert(item.Alert{})
	f.Close(nil)
	if len(f.Dropped()) != 0 {
		t.Error("the nil Fanout has hooks")
	}
}
