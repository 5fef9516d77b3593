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

// For any calls in any order, with any number of restarts in between, a store returns
// what a plain model in memory returns: the same records and the same reasons for
// refusing.
func followsTheModel(t T, open OpenFunc) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		m := &model{f: newFixture(t, open), pods: map[string]*modelPod{}, trashed: map[string]*trashedModel{}, firsts: map[item.Seq]item.Seq{}, moved: map[item.Seq]bool{}}
		t.Repeat(map[string]func(*rapid.T){
			"create":  m.create,
			"update":  m.update,
			"delete":  m.delete,
			"trash":   m.trash,
			"restore": m.restore,
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

// model is what a store should contain.
type model struct {
	f     *fixture
	clock int
	pods  map[string]*modelPod
	// trashed are the pods in the trash.
	trashed map[string]*trashedModel
	alerts  []item.Alert
	raised  item.Seq
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
	// from is the first entry at which a purged log can be forked or rewound.
	from     item.Seq
	base     *store.Base
	inbox    []item.Seq
	requests map[string]store.Request
}

var (
	podIDs     = rapid.SampledFrom([]string{"a", "ab", "b"})
	requestIDs = rapid.SampledFrom([]string{"r", "rr", "s"})
	texts      = rapid.SampledFrom([]string{"hello", "good bye"})
	images     = []string{"1", "2", "3", "4"}
	imageBytes = rapid.SampledFrom(images)
)

// tick returns a number, and at a time, that was not used before.
func (m *model) tick() int {
	m.clock++
	return m.clock
}

// same compares an error with the reason that the model expects, "" for no error.
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

// needed says whether the log of another pod has entries of this one, or the trash has it.
func (m *model) needed(id string) bool {
	for _, p := range m.all() {
		if p.ID != id && slices.Contains(p.owners, id) {
			return true
		}
	}
	return m.trashed[id] != nil
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

// index is the index of the entry with a sequence.
func (p *modelPod) index(seq item.Seq) int {
	return slices.IndexFunc(p.log, func(e item.Entry) bool { return e.Seq == seq })
}

// past is the reason why history cannot continue from an entry.
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

// mayBase says whether the log, with the batch, has the entries of the batch's base.
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

// forget removes old acknowledged alerts.
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
	reason := m.missing(id)
	if m.trashed[id] != nil {
		reason = ""
	}
	if m.same(m.f.s.DeletePod(m.f.Context(), id), reason) {
		delete(m.pods, id)
		delete(m.trashed, id)
		m.alerts = slices.DeleteFunc(m.alerts, func(a item.Alert) bool { return a.Pod == id })
	}
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

// index is the index of the alert that has, or had, a sequence; -1 without one.
func (m *model) index(seq item.Seq) int {
	return slices.IndexFunc(m.alerts, func(a item.Alert) bool {
		return a.Seq == seq || m.moved[seq] && m.firsts[a.Seq] == m.firsts[seq]
	})
}

// missing is the reason for refusing a call that needs a missing pod.
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
	m.compareTrash()
	m.compareImages()
}

// compareImages holds that each image is there as long as a log refers to it. Its bytes are
// gone with the last entry, except that shared logs keep entries between those that are needed.
func (m *model) compareImages() {
	referred, shares := make(map[string]bool), false
	for _, p := range m.all() {
		for i, e := range p.log {
			for _, image := range item.ImagesIn(e.Kind) {
				referred[image.Digest] = true
			}
			shares = shares || p.owners[i] != p.ID
		}
	}
	for _, b := range images {
		has, wanted := m.f.hasImages(b) != "", referred[picture(b).Digest]
		if wanted && !has || has && !wanted && !shares {
			m.f.Fatalf("the image %q is there: %v, an entry refers to it: %v", b, has, wanted)
		}
	}
}
