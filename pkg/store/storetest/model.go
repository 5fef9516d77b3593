package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"

	"pgregory.net/rapid"
)

// Whatever is done to a store, in any order and with any number of restarts in
// between, it gives what a plain model in memory gives: the same records and the
// same reasons for refusing.
func followsTheModel(t T, open OpenFunc) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		m := &model{f: newFixture(t, open), pods: map[string]*modelPod{}, firsts: map[item.Seq]item.Seq{}, moved: map[item.Seq]bool{}}
		t.Repeat(map[string]func(*rapid.T){
			"create":  m.create,
			"update":  m.update,
			"delete":  m.delete,
			"fork":    m.fork,
			"purge":   m.purge,
			"rewind":  m.rewind,
			"forget":  m.forget,
			"claim":   m.claim,
			"append":  m.append,
			"submit":  m.submit,
			"take":    m.take,
			"alert":   m.alert,
			"ack":     m.ack,
			"wait":    func(*rapid.T) { m.clock += int(store.FoldWithin.Milliseconds()) / 2 },
			"restart": func(*rapid.T) { m.f.reopen() },
			"":        m.compare,
		})
	})
}

// model is what a store should hold.
type model struct {
	f      *fixture
	clock  int
	pods   map[string]*modelPod
	alerts []item.Alert
	raised item.Seq
	// firsts has the first sequence of the alert that has, or had, a sequence.
	firsts map[item.Seq]item.Seq
	// moved are the sequences of alerts that were raised again.
	moved map[item.Seq]bool
}

type modelPod struct {
	item.Pod
	epoch store.Epoch
	log   []item.Entry
	// owners are the pods that wrote the entries of log.
	owners []string
	// from is where a purged log can be forked or rewound.
	from     item.Seq
	base     *store.Base
	inbox    []item.Seq
	requests map[string]store.Request
}

var (
	podIDs     = rapid.SampledFrom([]string{"a", "ab", "b"})
	requestIDs = rapid.SampledFrom([]string{"r", "rr", "s"})
	texts      = rapid.SampledFrom([]string{"hello", "good bye"})
)

// tick is a number, and with at a time, that was not used before.
func (m *model) tick() int {
	m.clock++
	return m.clock
}

// same compares an error with the reason that the model expects, "" for none.
func (m *model) same(err error, reason string) bool {
	m.f.Helper()
	if item.ReasonOf(err) != reason || (err == nil) != (reason == "") {
		m.f.Fatalf("error %v, want reason %q", err, reason)
	}
	return err == nil
}

func (m *model) create(t *rapid.T) {
	id := podIDs.Draw(t, "pod")
	pod := item.Pod{ID: id, Name: "name-" + id, Spec: item.PodSpec{Dir: "/" + id}, CreatedAt: at(m.tick())}
	reason := ""
	if m.pods[id] != nil || m.needed(id) {
		reason = store.ReasonPodExists
	}
	if m.same(m.f.s.CreatePod(m.f.Context(), pod), reason) {
		pod.Status.LastActivity = pod.CreatedAt
		m.pods[id] = &modelPod{Pod: pod, requests: map[string]store.Request{}}
	}
}

// needed says whether entries of a pod stand in the log of another.
func (m *model) needed(id string) bool {
	for _, p := range m.pods {
		if p.ID != id && slices.Contains(p.owners, id) {
			return true
		}
	}
	return false
}

func (m *model) fork(t *rapid.T) {
	parent, id := podIDs.Draw(t, "parent"), podIDs.Draw(t, "pod")
	seq := item.Seq(rapid.Int64Range(0, 12).Draw(t, "at"))
	pod := item.Pod{ID: id, Name: "name-" + id, Spec: item.PodSpec{Dir: "/fork"}, CreatedAt: at(m.tick())}
	reason := m.missing(parent)
	switch {
	case seq < 1:
		reason = store.ReasonBadRange
	case reason != "":
	case m.pods[id] != nil || m.needed(id):
		reason = store.ReasonPodExists
	default:
		reason = m.pods[parent].past(seq)
	}
	if m.same(m.f.s.Fork(m.f.Context(), parent, seq, pod), reason) {
		pod.Status.LastActivity = pod.CreatedAt
		p := m.pods[parent]
		pod.First, pod.Last = p.First, seq
		n := p.index(seq) + 1
		m.pods[id] = &modelPod{
			Pod: pod, requests: map[string]store.Request{},
			log: slices.Clone(p.log[:n]), owners: slices.Clone(p.owners[:n]), from: p.from, base: p.base,
		}
		if p.base != nil && p.base.Seq > seq {
			m.pods[id].base = nil
		}
	}
}

// index is where the entry with a sequence stands.
func (p *modelPod) index(seq item.Seq) int {
	return slices.IndexFunc(p.log, func(e item.Entry) bool { return e.Seq == seq })
}

// past is the reason for which history cannot go on from an entry.
func (p *modelPod) past(seq item.Seq) string {
	switch {
	case seq > p.Last:
		return store.ReasonBeyondEnd
	case seq < p.from || seq < p.First:
		return store.ReasonPurged
	}
	return ""
}

func (m *model) purge(t *rapid.T) {
	id := podIDs.Draw(t, "pod")
	c := store.Purge{Pod: id, UpTo: item.Seq(rapid.Int64Range(0, 12).Draw(t, "up to"))}
	from := item.Seq(rapid.Int64Range(0, 3).Draw(t, "from"))
	c.Mark = item.Entry{Time: at(m.tick()), Kind: item.Purged{From: c.UpTo + from}}
	p, reason := m.pods[id], m.missing(id)
	if p != nil {
		c.Last = p.Last
	}
	if rapid.IntRange(0, 9).Draw(t, "grown") == 0 {
		c.Last--
	}
	switch {
	case p == nil:
	case c.Last != p.Last:
		reason = store.ReasonLogGrew
	case c.UpTo > p.Last:
		reason = store.ReasonBeyondEnd
	case c.UpTo < max(p.First, 1), p.marked() && c.UpTo == p.First:
		reason = store.ReasonPurged
	case len(p.inbox) > 0 && p.inbox[0] <= c.UpTo:
		reason = store.ReasonStillWaiting
	}
	if m.same(m.f.s.Purge(m.f.Context(), c), reason) {
		n := p.index(c.UpTo)
		p.log, p.owners = slices.Clone(p.log[n:]), slices.Clone(p.owners[n:])
		c.Mark.Seq = c.UpTo
		// The mark is the pod's own.
		p.log[0], p.owners[0] = c.Mark, id
		p.First, p.from, p.base = c.UpTo, c.UpTo+from, nil
	}
}

// mayBase says whether a batch has the base of entries that the log has with it.
func (p *modelPod) mayBase(b store.Batch) bool {
	return max(p.First, 1) <= b.Base.Seq && b.Base.Seq <= p.Last+item.Seq(len(b.Entries))
}

func (p *modelPod) marked() bool {
	if len(p.log) == 0 {
		return false
	}
	_, ok := p.log[0].Kind.(item.Purged)
	return ok
}

func (m *model) rewind(t *rapid.T) {
	b := m.batch(t)
	m.based(t, &b)
	b.Entries = []item.Entry{{Time: at(m.tick()), Kind: item.Rewind{To: item.Seq(rapid.Int64Range(0, 12).Draw(t, "to"))}}}
	m.try(b)
}

// forget drops the acknowledged alerts of a time.
func (m *model) forget(t *rapid.T) {
	before := at(m.tick()).Add(-time.Duration(rapid.IntRange(0, 10).Draw(t, "age")) * time.Millisecond)
	n, err := m.f.s.PurgeAlerts(m.f.Context(), before)
	m.f.must(err)
	left := slices.DeleteFunc(slices.Clone(m.alerts), func(a item.Alert) bool { return a.Acked && a.Time.Before(before) })
	equal(m.f, "alerts that were dropped", n, len(m.alerts)-len(left))
	m.alerts = left
}

func (m *model) update(t *rapid.T) {
	id := podIDs.Draw(t, "pod")
	spec := item.PodSpec{Dir: "/", Model: fmt.Sprint(m.tick())}
	if m.same(m.f.s.UpdateSpec(m.f.Context(), id, spec), m.missing(id)) {
		m.pods[id].Spec = spec
	}
}

func (m *model) delete(t *rapid.T) {
	id := podIDs.Draw(t, "pod")
	if m.same(m.f.s.DeletePod(m.f.Context(), id), m.missing(id)) {
		delete(m.pods, id)
		m.alerts = slices.DeleteFunc(m.alerts, func(a item.Alert) bool { return a.Pod == id })
	}
}

func (m *model) claim(t *rapid.T) {
	id := podIDs.Draw(t, "pod")
	epoch, err := m.f.s.Claim(m.f.Context(), id)
	if m.same(err, m.missing(id)) {
		m.pods[id].epoch++
		equal(m.f, "epoch", epoch, m.pods[id].epoch)
	}
}

func (m *model) append(t *rapid.T) {
	b := m.batch(t)
	for range rapid.IntRange(0, 3).Draw(t, "entries") {
		e := note(m.tick())
		if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
			e = m.raising(t)
		}
		b.Entries = append(b.Entries, e)
	}
	if rapid.Bool().Draw(t, "status") {
		b.Status = &item.PodStatus{State: item.StateRunning, Turn: int64(m.tick()), LastActivity: at(m.tick())}
	}
	m.based(t, &b)
	m.try(b)
}

func (m *model) submit(t *rapid.T) {
	text := texts.Draw(t, "text")
	b := admission(requestIDs.Draw(t, "request"), text)
	to := m.batch(t)
	b.Pod, b.Epoch = to.Pod, to.Epoch
	b.Enqueue = rapid.Bool().Draw(t, "enqueue")
	b.Admit.Queued = rapid.Bool().Draw(t, "queued")
	b.InboxLimit = rapid.IntRange(0, 2).Draw(t, "limit")
	m.try(b)
}

func (m *model) take(t *rapid.T) {
	b := m.batch(t)
	b.Dequeue = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) item.Seq {
		return item.Seq(rapid.Int64Range(0, 6).Draw(t, "seq"))
	}), 1, 2).Draw(t, "dequeue")
	b.Entries = []item.Entry{note(m.tick())}
	m.try(b)
}

// based gives some batches a base.
func (m *model) based(t *rapid.T, b *store.Batch) {
	if rapid.IntRange(0, 3).Draw(t, "based") == 0 {
		b.Base = based(item.Seq(rapid.Int64Range(0, 12).Draw(t, "base")), fmt.Sprint(m.tick()))
	}
}

// batch is an empty batch for some pod, mostly with its epoch.
func (m *model) batch(t *rapid.T) store.Batch {
	b := store.Batch{Pod: podIDs.Draw(t, "pod")}
	if p := m.pods[b.Pod]; p != nil {
		b.Epoch = p.epoch
	}
	if rapid.IntRange(0, 9).Draw(t, "epoch") == 0 {
		b.Epoch--
	}
	return b
}

// try appends a batch to the store and to the model.
func (m *model) try(b store.Batch) {
	m.f.Helper()
	out, err := m.f.s.Append(m.f.Context(), b)
	reason, duplicate := m.refusal(b)
	if !m.same(err, reason) {
		return
	}
	if duplicate != nil {
		equal(m.f, "duplicate", out.Duplicate, duplicate)
		equal(m.f, "records of a duplicate", len(out.Records), 0)
		return
	}
	first := len(m.pods[b.Pod].log)
	alerts := m.write(b)
	equal(m.f, "duplicate", out.Duplicate, nil)
	equal(m.f, "records", decode(m.f, out.Records), append([]item.Entry{}, m.pods[b.Pod].log[first:]...))
	equal(m.f, "alerts", append([]item.Alert{}, out.Alerts...), append([]item.Alert{}, alerts...))
}

// refusal is the reason why a batch is refused, or the request that it repeats.
func (m *model) refusal(b store.Batch) (reason string, duplicate *store.Request) {
	p := m.pods[b.Pod]
	if p == nil {
		return store.ReasonPodNotFound, nil
	}
	if b.Epoch != p.epoch || p.epoch == 0 {
		return store.ReasonStaleEpoch, nil
	}
	if b.Admit != nil {
		if r, ok := p.requests[b.Admit.ID]; ok {
			if r.Digest != b.Admit.Digest {
				return store.ReasonRequestIDTaken, nil
			}
			return "", &r
		}
	}
	for _, e := range b.Entries {
		if k, ok := e.Kind.(item.Rewind); ok && p.marked() && k.To < p.from {
			return store.ReasonPurged, nil
		}
	}
	if b.Base != nil && !p.mayBase(b) {
		return store.ReasonBadBatch, nil
	}
	left := slices.Clone(p.inbox)
	for _, seq := range b.Dequeue {
		i := slices.Index(left, seq)
		if i < 0 {
			return store.ReasonNotWaiting, nil
		}
		left = slices.Delete(left, i, i+1)
	}
	if b.Enqueue && b.InboxLimit > 0 && len(left) >= b.InboxLimit {
		return store.ReasonInboxFull, nil
	}
	return "", nil
}

// write does to the model what an allowed batch does to a store, and gives its
// alerts.
func (m *model) write(b store.Batch) (alerts []item.Alert) {
	p := m.pods[b.Pod]
	first := p.Last + 1
	for i, e := range numbered(first, b.Entries...) {
		if a, ok := e.Kind.(item.AlertRaised); ok {
			a.Alert.Pod, a.Alert.Count = b.Pod, 1
			a.Alert = m.raise(a.Alert)
			alerts = append(alerts, a.Alert)
			e.Kind = a
		}
		p.log, p.owners = append(p.log, e), append(p.owners, p.ID)
		p.First, p.Last = max(p.First, 1), first+item.Seq(i)
		p.Status.LastActivity = e.Time
	}
	if b.Base != nil {
		p.base = b.Base
	}
	for _, e := range b.Entries {
		if k, ok := e.Kind.(item.Rewind); ok && p.base != nil && p.base.Seq > k.To {
			p.base = nil
		}
	}
	p.inbox = slices.DeleteFunc(p.inbox, func(seq item.Seq) bool { return slices.Contains(b.Dequeue, seq) })
	if b.Enqueue {
		p.inbox = append(p.inbox, first)
	}
	p.Queued = len(p.inbox)
	if b.Admit != nil {
		p.requests[b.Admit.ID] = store.Request{ID: b.Admit.ID, Digest: b.Admit.Digest, Seq: first, Queued: b.Admit.Queued}
	}
	if b.Status != nil {
		p.Status = *b.Status
	}
	return alerts
}

// raising is an entry with an alert that may repeat another.
func (m *model) raising(t *rapid.T) item.Entry {
	e := raised(texts.Draw(t, "alert"))
	a := e.Kind.(item.AlertRaised)
	a.Alert.Time = at(m.tick())
	e.Kind = a
	return e
}

func (m *model) raise(a item.Alert) item.Alert {
	m.raised++
	a.Seq = m.raised
	m.firsts[a.Seq] = a.Seq
	same := func(b item.Alert) bool {
		return a.Pod == b.Pod && a.Level == b.Level && a.Source == b.Source && a.Text == b.Text
	}
	for i, old := range slices.Backward(m.alerts) {
		if !same(old) {
			continue
		}
		if !old.Acked && a.Time.Sub(old.Time) <= store.FoldWithin {
			a.Count += old.Count
			m.firsts[a.Seq], m.moved[old.Seq] = m.firsts[old.Seq], true
			m.alerts = slices.Delete(m.alerts, i, i+1)
		}
		break
	}
	m.alerts = append(m.alerts, a)
	return a
}

func (m *model) alert(t *rapid.T) {
	a := item.Alert{Level: item.LevelInfo, Text: "outside", Time: at(m.tick()), Count: 1}
	reason := ""
	if rapid.Bool().Draw(t, "of a pod") {
		a.Pod = podIDs.Draw(t, "pod")
		reason = m.missing(a.Pod)
	}
	got, err := m.f.s.RaiseAlert(m.f.Context(), a)
	if m.same(err, reason) {
		equal(m.f, "alert", got, m.raise(a))
	}
}

func (m *model) ack(t *rapid.T) {
	drawn := rapid.SliceOfN(rapid.Int64Range(1, 8), 1, 3).Draw(t, "alerts")
	var wanted []item.Seq
	reason := ""
	for _, n := range drawn {
		wanted = append(wanted, item.Seq(n))
		if m.index(item.Seq(n)) < 0 && !m.moved[item.Seq(n)] {
			reason = store.ReasonAlertNotFound
		}
	}
	if m.same(m.f.s.AckAlerts(m.f.Context(), wanted), reason) {
		for _, seq := range wanted {
			if i := m.index(seq); i >= 0 {
				m.alerts[i].Acked = true
			}
		}
	}
}

// index is where the alert stands that has a sequence or had it; -1 when there is
// none.
func (m *model) index(seq item.Seq) int {
	return slices.IndexFunc(m.alerts, func(a item.Alert) bool {
		return a.Seq == seq || m.moved[seq] && m.firsts[a.Seq] == m.firsts[seq]
	})
}

// missing is the reason for refusing what needs a pod.
func (m *model) missing(id string) string {
	if m.pods[id] == nil {
		return store.ReasonPodNotFound
	}
	return ""
}

// compare reads everything and compares it.
func (m *model) compare(*rapid.T) {
	f := m.f
	pods, err := f.s.Pods(f.Context())
	f.must(err)
	byName := slices.SortedFunc(maps.Values(m.pods), func(a, b *modelPod) int { return cmp.Compare(a.Name, b.Name) })
	equal(f, "number of pods", len(pods), len(byName))
	for i, want := range byName {
		p := &owned{f: f, id: want.ID}
		equal(f, "listed pod", pods[i], want.Pod)
		equal(f, "pod", p.record(), want.Pod)
		equal(f, "log", p.log(), want.log)
		equal(f, "base", p.base(), want.base)
		equal(f, "inbox", append([]item.Seq{}, p.inbox()...), append([]item.Seq{}, want.inbox...))
		for _, id := range []string{"r", "rr", "s"} {
			r, ok, err := f.s.Request(f.Context(), want.ID, id)
			f.must(err)
			wantRequest, wantOK := want.requests[id]
			equal(f, "request", r, wantRequest)
			equal(f, "request is known", ok, wantOK)
		}
		of := slices.DeleteFunc(slices.Clone(m.alerts), func(a item.Alert) bool { return a.Pod != want.ID })
		equal(f, "alerts of a pod", append([]item.Alert{}, f.alerts(store.AlertQuery{Pod: want.ID})...), append([]item.Alert{}, of...))
	}
	equal(f, "alerts", append([]item.Alert{}, f.alerts(store.AlertQuery{})...), append([]item.Alert{}, m.alerts...))
}
