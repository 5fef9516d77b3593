package storetest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"

	"pgregory.net/rapid"
)

// A pod in the trash is found by nothing but DeletePod, its name is free, and it comes back
// with all that it had, and with the pods that were deleted with it.
func trashedPodsComeBack(f *fixture) {
	p, child := f.pod("p"), f.pod("child")
	p.submit("r", "hello")
	p.append(raised("of p"))
	child.append(note(1))
	before, log, inbox := p.record(), p.log(), p.inbox()
	f.refused(f.s.TrashPods(f.Context(), []string{"p", "none"}, at(5)), item.KindNotFound, store.ReasonPodNotFound)
	equal(f, "the pod after a refusal", p.record(), before)
	f.must(f.s.TrashPods(f.Context(), []string{"p", "child"}, at(5)))
	f.reopen()

	for _, key := range []string{"p", "name-of-p", "child"} {
		_, err := f.s.Pod(f.Context(), key)
		f.refused(err, item.KindNotFound, store.ReasonPodNotFound)
	}
	_, err := p.try(store.Batch{Entries: []item.Entry{note(1)}})
	f.refused(err, item.KindNotFound, store.ReasonPodNotFound)
	f.refused(f.s.CreatePod(f.Context(), item.Pod{ID: "p", Name: "new"}), item.KindExists, store.ReasonPodExists)
	f.refused(f.s.TrashPods(f.Context(), []string{"p"}, at(6)), item.KindNotFound, store.ReasonPodNotFound)
	trashed, err := f.s.TrashedPods(f.Context())
	f.must(err)
	equal(f, "pods in the trash", len(trashed), 2)
	equal(f, "the last one", trashed[1], store.TrashedPod{Pod: before, At: at(5), With: "p"})
	equal(f, "the first one was deleted with", trashed[0].With, "p")

	// Their names are others' now.
	for _, name := range []string{"name-of-p", "name-of-child", "name-of-child-2"} {
		f.must(f.s.CreatePod(f.Context(), item.Pod{ID: "the-new-" + name, Name: name}))
	}
	f.refused(f.s.RestorePod(f.Context(), "p", "name-of-p"), item.KindExists, store.ReasonPodExists)
	f.refused(f.s.RestorePod(f.Context(), "none", "x"), item.KindNotFound, store.ReasonPodNotFound)
	f.must(f.s.RestorePod(f.Context(), "p", "again"))
	f.reopen()
	before.Name = "again"
	equal(f, "the pod", p.record(), before)
	equal(f, "its log", p.log(), log)
	equal(f, "its inbox", p.inbox(), inbox)
	equal(f, "the name of the other", child.record().Name, "name-of-child-3")
	f.claim("p").append(note(3))

	// What is removed from the trash leaves the others alone.
	f.must(f.s.TrashPods(f.Context(), []string{"p"}, at(7)))
	f.must(f.s.CreatePod(f.Context(), item.Pod{ID: "other", Name: "again"}))
	f.must(f.s.DeletePod(f.Context(), "p"))
	f.refused(f.s.RestorePod(f.Context(), "p", "p"), item.KindNotFound, store.ReasonPodNotFound)
	got, err := f.s.Pod(f.Context(), "again")
	f.must(err)
	equal(f, "the pod with the name", got.ID, "other")
	alerts, err := f.s.Alerts(f.Context(), store.AlertQuery{})
	f.must(err)
	equal(f, "alerts", len(alerts), 0)
}

// trashedModel is a pod in the trash of the model.
type trashedModel struct {
	*modelPod
	at   time.Time
	with string
}

// all are the pods, in the trash too.
func (m *model) all() []*modelPod {
	all := slices.Collect(maps.Values(m.pods))
	for _, p := range m.trashed {
		all = append(all, p.modelPod)
	}
	return all
}

func (m *model) trash(t *rapid.T) {
	ids := rapid.SliceOfNDistinct(podIDs, 1, 2, rapid.ID[string]).Draw(t, "pods")
	reason := ""
	for _, id := range ids {
		reason = cmp.Or(reason, m.missing(id))
	}
	now := at(m.tick())
	if !m.same(m.f.s.TrashPods(m.f.Context(), ids, now), reason) {
		return
	}
	for _, id := range ids {
		m.trashed[id] = &trashedModel{m.pods[id], now, ids[0]}
		m.trashed[id].base = nil
		delete(m.pods, id)
	}
}

func (m *model) restore(t *rapid.T) {
	id := podIDs.Draw(t, "pod")
	name := rapid.SampledFrom([]string{"name-", "new-"}).Draw(t, "name") + id
	reason := ""
	if m.trashed[id] == nil {
		reason = store.ReasonPodNotFound
	}
	if !m.same(m.f.s.RestorePod(m.f.Context(), id, name), reason) {
		return
	}
	m.trashed[id].Name = name
	for other, p := range m.trashed {
		if other == id || p.with == id {
			m.pods[other] = p.modelPod
			delete(m.trashed, other)
		}
	}
}

// compareTrash compares the pods in the trash.
func (m *model) compareTrash() {
	got, err := m.f.s.TrashedPods(m.f.Context())
	m.f.must(err)
	equal(m.f, "pods in the trash", len(got), len(m.trashed))
	for _, p := range got {
		want := m.trashed[p.ID]
		if want == nil {
			m.f.Fatalf("pod %s is in the trash", p.ID)
		}
		equal(m.f, "pod in the trash", p, store.TrashedPod{Pod: want.Pod, At: want.at, With: want.with})
	}
}
