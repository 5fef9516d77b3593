package storetest

import (
	"fmt"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

func (f *fixture) alerts(q store.AlertQuery) []item.Alert {
	f.Helper()
	alerts, err := f.s.Alerts(f.Context(), q)
	f.must(err)
	return alerts
}

func (f *fixture) alertSeqs(q store.AlertQuery) []item.Seq {
	f.Helper()
	var out []item.Seq
	for _, a := range f.alerts(q) {
		out = append(out, a.Seq)
	}
	return out
}

// Alerts are numbered over all pods without a gap. An alert of a batch is in its pod's
// log and in the alerts of all pods, equal in both and with the same sequence; one
// without a log is only in the latter.
func alertsCountOverAllPods(f *fixture) {
	p, q := f.pod("p"), f.pod("q")
	first := p.append(note(1), raised("one"), note(2), raised("two"))
	daemon, err := f.s.RaiseAlert(f.Context(), item.Alert{Level: item.LevelError, Source: "store", Text: "of the daemon", Time: at(5), Count: 3})
	f.must(err)
	second := q.append(raised("three"))

	want := []item.Alert{
		{Seq: 1, Pod: "p", Level: item.LevelWarn, Source: "turn", Text: "one", Time: at(1), Count: 1},
		{Seq: 2, Pod: "p", Level: item.LevelWarn, Source: "turn", Text: "two", Time: at(1), Count: 1},
		{Seq: 3, Level: item.LevelError, Source: "store", Text: "of the daemon", Time: at(5), Count: 3},
		{Seq: 4, Pod: "q", Level: item.LevelWarn, Source: "turn", Text: "three", Time: at(1), Count: 1},
	}
	equal(f, "alerts of the first batch", first.Alerts, want[:2])
	equal(f, "alert of the daemon", daemon, want[2])
	equal(f, "alerts of the second batch", second.Alerts, want[3:])
	for range 2 {
		equal(f, "alerts", f.alerts(store.AlertQuery{}), want)
		equal(f, "in the first log", p.log(), numbered(1, note(1), inLog(want[0]), note(2), inLog(want[1])))
		equal(f, "in the second log", q.log(), numbered(1, inLog(want[3])))
		f.reopen()
	}
	equal(f, "the next, after reopening", p.append(raised("four")).Alerts[0].Seq, 5)
}

func inLog(a item.Alert) item.Entry {
	return item.Entry{Time: at(0), Kind: item.AlertRaised{Alert: a}}
}

// A query selects by pod, sequence, acknowledgement and number, in any combination.
// Without a limit it returns 1,000, however many it must skip.
func alertsAreChosen(f *fixture) {
	p, q := f.pod("p"), f.pod("p2")
	var all []item.Entry
	for n := range 1100 {
		all = append(all, raised(fmt.Sprint(n)))
	}
	p.append(all...)
	q.append(all[:3]...)
	var old []item.Seq
	for n := range item.Seq(1050) {
		old = append(old, n+1)
	}
	f.must(f.s.AckAlerts(f.Context(), old))
	equal(f, "without a limit", len(f.alertSeqs(store.AlertQuery{})), 1000)
	equal(f, "after", f.alertSeqs(store.AlertQuery{After: 1098}), []item.Seq{1099, 1100, 1101, 1102, 1103})
	equal(f, "at the end", f.alertSeqs(store.AlertQuery{After: 1103}), nil)
	equal(f, "limit", f.alertSeqs(store.AlertQuery{After: 3, Limit: 2}), []item.Seq{4, 5})
	equal(f, "pod", f.alertSeqs(store.AlertQuery{Pod: "p2"}), []item.Seq{1101, 1102, 1103})
	equal(f, "pod, after and limit", f.alertSeqs(store.AlertQuery{Pod: "p2", After: 1101, Limit: 1}), []item.Seq{1102})
	equal(f, "unacked", len(f.alertSeqs(store.AlertQuery{Unacked: true})), 53)
	equal(f, "unacked of a pod", f.alertSeqs(store.AlertQuery{Unacked: true, Pod: "p", Limit: 1}), []item.Seq{1051})
	equal(f, "of an unknown pod", f.alertSeqs(store.AlertQuery{Pod: "p3"}), nil)
}

// Acknowledging marks alerts permanently, changes nothing else of them, and can be
// repeated. If one of several is unknown, none is marked.
func alertsAreAcknowledged(f *fixture) {
	p := f.pod("p")
	p.append(raised("one"), raised("two"), raised("three"))
	log := p.log()
	err := f.s.AckAlerts(f.Context(), []item.Seq{1, 4})
	f.refused(err, item.KindNotFound, store.ReasonAlertNotFound)
	equal(f, "unacked", f.alertSeqs(store.AlertQuery{Unacked: true}), []item.Seq{1, 2, 3})
	want := f.alerts(store.AlertQuery{})
	want[0].Acked, want[2].Acked = true, true
	f.must(f.s.AckAlerts(f.Context(), []item.Seq{3, 1, 3}))
	f.must(f.s.AckAlerts(f.Context(), []item.Seq{1}))
	f.must(f.s.AckAlerts(f.Context(), nil))
	for range 2 {
		equal(f, "alerts", f.alerts(store.AlertQuery{}), want)
		equal(f, "log", p.log(), log)
		f.reopen()
	}
	// A cursor may point to the last alert, even a deleted one, and not after it.
	equal(f, "after the last", f.alertSeqs(store.AlertQuery{After: 3}), nil)
	f.must(f.s.DeletePod(f.Context(), "p"))
	equal(f, "after a deleted one", f.alertSeqs(store.AlertQuery{After: 3}), nil)
	for _, pod := range []string{"", "q"} {
		_, err = f.s.Alerts(f.Context(), store.AlertQuery{Pod: pod, After: 4})
		f.refused(err, item.KindOutOfRange, store.ReasonBeyondEnd)
	}
}

// An alert that repeats the newest of the same pod, level, source and text replaces it: a
// reader with a cursor sees it again, a list shows it once, and the counts add up.
// Another pod, level, source or text, an acknowledgement, or too long a time makes it a
// new alert. Logs do not change.
func alertsAreFolded(f *fixture) {
	p := f.pod("p")
	f.pod("q")
	again := func(after time.Duration) item.Alert {
		return item.Alert{Pod: "p", Level: item.LevelWarn, Source: "turn", Text: "full", Time: at(0).Add(after)}
	}
	raise := func(a item.Alert) item.Alert {
		f.Helper()
		got, err := f.s.RaiseAlert(f.Context(), a)
		f.must(err)
		return got
	}
	entry := func(after time.Duration) item.Entry {
		return item.Entry{Time: at(0), Kind: item.AlertRaised{Alert: again(after)}}
	}
	stored := func(seq item.Seq, after time.Duration, count int64) item.Alert {
		a := again(after)
		a.Seq, a.Count = seq, count
		return a
	}
	equal(f, "the first", raise(again(0)), stored(1, 0, 1))
	equal(f, "its repetitions", p.append(entry(time.Minute), note(1), entry(2*time.Minute)).Alerts,
		[]item.Alert{stored(2, time.Minute, 2), stored(3, 2*time.Minute, 3)})
	equal(f, "in the log", p.log(), numbered(1, inLog(stored(2, time.Minute, 2)), note(1), inLog(stored(3, 2*time.Minute, 3))))
	last := store.FoldWithin + 2*time.Minute
	equal(f, "at the end of the time", raise(again(last)), stored(4, last, 4))
	f.reopen()
	equal(f, "one is left", f.alerts(store.AlertQuery{}), []item.Alert{stored(4, last, 4)})
	equal(f, "one of the pod", f.alerts(store.AlertQuery{Pod: "p"}), []item.Alert{stored(4, last, 4)})
	equal(f, "for a cursor", f.alertSeqs(store.AlertQuery{After: 3, Unacked: true}), []item.Seq{4})

	late := last + store.FoldWithin + 1
	equal(f, "too late", raise(again(late)), stored(5, late, 1))
	for i, change := range []func(a *item.Alert){
		func(a *item.Alert) { a.Pod = "q" },
		func(a *item.Alert) { a.Pod = "" },
		func(a *item.Alert) { a.Level = item.LevelError },
		func(a *item.Alert) { a.Source = "turnfull" },
		func(a *item.Alert) { a.Text = "full " },
	} {
		a := again(late)
		change(&a)
		equal(f, "another alert", raise(a).Count, 1)
		equal(f, "alerts", len(f.alerts(store.AlertQuery{})), 3+i)
	}
	counted := again(late)
	counted.Count = 5
	equal(f, "one that comes with a count", raise(counted), stored(11, late, 6))
	f.must(f.s.AckAlerts(f.Context(), []item.Seq{11}))
	equal(f, "after an acknowledgement", raise(again(late)), stored(12, late, 1))
	equal(f, "the acknowledged one stays", f.alertSeqs(store.AlertQuery{After: 10}), []item.Seq{11, 12})
}

// An old sequence of an alert still finds it after a repetition. When the alert is
// acknowledged or deleted, the sequence finds nothing, and never a later alert that looks
// the same.
func oldSequencesAcknowledge(f *fixture) {
	p := f.pod("p")
	ack := func(seqs ...item.Seq) {
		f.Helper()
		f.must(f.s.AckAlerts(f.Context(), seqs))
	}
	unacked := func(want ...item.Seq) {
		f.Helper()
		equal(f, "unacked", f.alertSeqs(store.AlertQuery{Unacked: true}), want)
	}
	p.append(raised("full"), raised("full"), raised("full"))
	f.reopen()
	err := f.s.AckAlerts(f.Context(), []item.Seq{1, 4})
	f.refused(err, item.KindNotFound, store.ReasonAlertNotFound)
	unacked(3)
	ack(1, 2)
	unacked()
	p.append(raised("full"), raised("full"))
	ack(1, 2, 3)
	unacked(5)
	ack(4)
	unacked()
	p.append(raised("full"), raised("full"))
	f.must(f.s.DeletePod(f.Context(), "p"))
	f.pod("p").append(raised("full"))
	ack(6)
	unacked(8)
	f.refused(f.s.AckAlerts(f.Context(), []item.Seq{7}), item.KindNotFound, store.ReasonAlertNotFound)
}
