package storetest

import (
	"fmt"

	"podd/pkg/item"
	"podd/pkg/store"
)

// A reopened store returns what it returned before it was closed, and continues from
// there.
func everythingSurvivesReopening(f *fixture) {
	var pods []*owned
	for n := range 5 {
		p := f.pod(fmt.Sprintf("p%d", n))
		for m := range n * 3 {
			p.append(note(m), raised(fmt.Sprintf("alert %d", m)))
		}
		p.submit("r", "hello")
		status := item.PodStatus{State: item.StateWaiting, Reason: "for a person", Turn: int64(n), LastActivity: at(n)}
		p.batch(store.Batch{Status: &status})
		pods = append(pods, p)
	}
	f.must(f.s.AckAlerts(f.Context(), []item.Seq{2}))
	type contents struct {
		pods   []item.Pod
		alerts []item.Alert
		logs   [][]item.Entry
		inbox  [][]item.Seq
	}
	read := func() (c contents) {
		var err error
		c.pods, err = f.s.Pods(f.Context())
		f.must(err)
		c.alerts = f.alerts(store.AlertQuery{})
		for _, p := range pods {
			c.logs = append(c.logs, p.log())
			c.inbox = append(c.inbox, p.inbox())
		}
		return c
	}
	before := read()
	for range 3 {
		f.reopen()
		equal(f, "contents", read(), before)
	}
	for _, p := range pods {
		last := p.record().Last
		equal(f, "next sequence of "+p.id, p.append(note(1)).Records[0].Seq, last+1)
	}
}
