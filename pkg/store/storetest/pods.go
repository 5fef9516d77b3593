package storetest

import (
	"fmt"
	"strings"

	"podd/pkg/item"
	"podd/pkg/store"
)

func fullSpec(model string) item.PodSpec {
	return item.PodSpec{
		Dir: "/work", Model: model, Instructions: "be brief\n",
		Read: []string{"/a", "/b"}, Write: []string{"/c"}, Ask: "risky",
	}
}

// A pod reads as it was created, by its id and by its name; an empty log has no first and
// no last entry. An id that is another pod's name means the pod with that id.
func podRecords(f *fixture) {
	want := item.Pod{
		ID: "id-1", Name: "one", Spec: fullSpec("m"), CreatedAt: at(1),
		Status: item.PodStatus{
			State: item.StatePaused, Reason: "by hand", Turn: 3,
			Usage: item.Usage{Input: 1, CachedInput: 2, CacheWrite: 3, Output: 4, Reasoning: 5, Requests: 6}, LastActivity: at(2),
		},
	}
	f.must(f.s.CreatePod(f.Context(), want))
	for _, key := range []string{"id-1", "one"} {
		got, err := f.s.Pod(f.Context(), key)
		f.must(err)
		equal(f, "pod "+key, got, want)
	}
	f.must(f.s.CreatePod(f.Context(), item.Pod{ID: "id-2", Name: "id-1", CreatedAt: at(3)}))
	got, err := f.s.Pod(f.Context(), "id-1")
	f.must(err)
	equal(f, "pod by an id that is a name too", got.ID, "id-1")
	pods, err := f.s.Pods(f.Context())
	f.must(err)
	names := []string{}
	for _, p := range pods {
		names = append(names, p.Name)
	}
	equal(f, "names in order", names, []string{"id-1", "one"})
	equal(f, "last activity of a new pod", pods[0].Status.LastActivity, at(3))
}

// A name and an id belong to one pod at a time. A refused creation changes nothing, and a
// name is free again once its pod is deleted.
func podNamesAreUnique(f *fixture) {
	f.must(f.s.CreatePod(f.Context(), item.Pod{ID: "id-1", Name: "one", Spec: fullSpec("first")}))
	err := f.s.CreatePod(f.Context(), item.Pod{ID: "id-2", Name: "one"})
	f.refused(err, item.KindExists, store.ReasonPodExists)
	err = f.s.CreatePod(f.Context(), item.Pod{ID: "id-1", Name: "two"})
	f.refused(err, item.KindExists, store.ReasonPodExists)
	for _, key := range []string{"id-2", "two"} {
		_, err = f.s.Pod(f.Context(), key)
		f.refused(err, item.KindNotFound, store.ReasonPodNotFound)
	}
	got, err := f.s.Pod(f.Context(), "one")
	f.must(err)
	equal(f, "spec of the first", got.Spec, fullSpec("first"))
	f.must(f.s.DeletePod(f.Context(), "id-1"))
	f.must(f.s.CreatePod(f.Context(), item.Pod{ID: "id-2", Name: "one"}))
	for _, bad := range []item.Pod{{Name: "x"}, {ID: "x"}, {ID: "a\x00b", Name: "x"}, {ID: "x", Name: strings.Repeat("n", 1<<16)}} {
		f.refused(f.s.CreatePod(f.Context(), bad), item.KindInvalid, store.ReasonBadName)
	}
}

// A batch creates a pod with its log and its images, or nothing of it. The pod has no writer yet.
func podsBeginWithALog(f *fixture) {
	create := func(id, name string) error {
		_, err := f.s.Append(f.Context(), store.Batch{
			Pod: id, Create: &item.Pod{ID: id, Name: name, CreatedAt: at(1)}, Entries: []item.Entry{note(1), note(2)},
			Status: &item.PodStatus{State: item.StateIdle, Turn: 7},
		})
		return err
	}
	f.must(create("id-1", "one"))
	f.reopen()
	p := f.claim("id-1")
	equal(f, "log", len(p.log()), 2)
	equal(f, "turn", p.record().Status.Turn, int64(7))
	equal(f, "the next entry", p.append(note(3)).Records[0].Seq, 3)
	f.refused(create("id-1", "other"), item.KindExists, store.ReasonPodExists)
	f.refused(create("id-2", "one"), item.KindExists, store.ReasonPodExists)
	equal(f, "log after refusals", len(p.log()), 3)
	for _, name := range []string{"id-2", "other"} {
		_, err := f.s.Pod(f.Context(), name)
		f.refused(err, item.KindNotFound, store.ReasonPodNotFound)
	}
	_, err := f.s.Append(f.Context(), store.Batch{Pod: "id-3", Create: &item.Pod{ID: "id-4", Name: "four"}})
	f.refused(err, item.KindInvalid, store.ReasonBadBatch)
	f.must(f.s.DeletePod(f.Context(), "id-1"))
	f.must(create("id-1", "one"))
}

// Deleting a pod removes its log, inbox, request ids and alerts. It changes neither the
// data of other pods nor the count of alerts.
func deletedPodIsGone(f *fixture) {
	gone, kept := f.pod("p"), f.pod("p2")
	for _, p := range []*owned{gone, kept} {
		p.submit("r", "hello")
		p.append(raised("of " + p.id))
	}
	_, err := f.s.RaiseAlert(f.Context(), item.Alert{Pod: "p", Text: "outside of its log"})
	f.must(err)
	f.must(f.s.DeletePod(f.Context(), "p"))

	_, err = gone.try(store.Batch{Entries: []item.Entry{note(1)}})
	f.refused(err, item.KindNotFound, store.ReasonPodNotFound)
	f.refused(f.s.DeletePod(f.Context(), "p"), item.KindNotFound, store.ReasonPodNotFound)
	equal(f, "the other's inbox", kept.inbox(), []item.Seq{1})
	equal(f, "the other's log", len(kept.log()), 2)
	alerts, err := f.s.Alerts(f.Context(), store.AlertQuery{})
	f.must(err)
	if len(alerts) != 1 || alerts[0].Pod != "p2" {
		f.Errorf("alerts are %+v, want only p2's", alerts)
	}

	again := f.pod("p")
	equal(f, "log of a new pod with the same id", again.log(), nil)
	equal(f, "its inbox", again.inbox(), nil)
	_, ok, err := f.s.Request(f.Context(), "p", "r")
	f.must(err)
	equal(f, "its request id is known", ok, false)
	equal(f, "its first entry", again.submit("r", "hello"), 1)
	equal(f, "the next alert", again.append(raised("new")).Alerts[0].Seq, 4)
}

// UpdateSpec replaces only the spec.
func specIsReplaced(f *fixture) {
	p := f.pod("p")
	p.append(note(1))
	before := p.record()
	f.must(f.s.UpdateSpec(f.Context(), "p", fullSpec("other")))
	before.Spec = fullSpec("other")
	equal(f, "record", p.record(), before)
	p.append(note(2))
	f.refused(f.s.UpdateSpec(f.Context(), "q", item.PodSpec{}), item.KindNotFound, store.ReasonPodNotFound)
}

// RenamePod changes the name alone, and frees the old one.
func podIsRenamed(f *fixture) {
	p := f.pod("p")
	p.append(note(1))
	f.pod("other")
	before := p.record()
	f.must(f.s.RenamePod(f.Context(), "p", "renamed"))
	before.Name = "renamed"
	equal(f, "record", p.record(), before)
	found, err := f.s.Pod(f.Context(), "renamed")
	f.must(err)
	equal(f, "the pod of the new name", found.ID, "p")
	p.append(note(2))
	f.must(f.s.RenamePod(f.Context(), "p", "renamed"))
	f.refused(f.s.RenamePod(f.Context(), "p", before.Name+"\x00"), item.KindInvalid, store.ReasonBadName)
	f.refused(f.s.RenamePod(f.Context(), "q", "x"), item.KindNotFound, store.ReasonPodNotFound)
	taken, err := f.s.Pod(f.Context(), "other")
	f.must(err)
	f.refused(f.s.RenamePod(f.Context(), "p", taken.Name), item.KindExists, store.ReasonPodExists)
	f.must(f.s.DeletePod(f.Context(), "p"))
	_, err = f.s.Pod(f.Context(), "renamed")
	f.refused(err, item.KindNotFound, store.ReasonPodNotFound)
}

// A batch may replace the status, with entries or without. Without a status only the last
// activity changes, to that of the last entry.
func statusGoesWithTheBatch(f *fixture) {
	p := f.pod("p")
	running := item.PodStatus{State: item.StateRunning, Turn: 1, LastActivity: at(5)}
	p.batch(store.Batch{Entries: []item.Entry{note(1), note(2)}, Status: &running})
	equal(f, "status with entries", p.record().Status, running)
	p.append(note(9))
	running.LastActivity = at(9)
	equal(f, "status after entries alone", p.record().Status, running)
	paused := item.PodStatus{State: item.StatePaused, Reason: "by hand", Turn: 1, LastActivity: at(20)}
	p.batch(store.Batch{Status: &paused})
	got := p.record()
	equal(f, "status without entries", got.Status, paused)
	equal(f, "ends of the log", [2]item.Seq{got.First, got.Last}, [2]item.Seq{1, 3})
}

// Each method reports a pod that does not exist as such.
func unknownPod(f *fixture) {
	ctx := f.Context()
	calls := map[string]func() error{
		"Pod":        func() error { _, err := f.s.Pod(ctx, "p"); return err },
		"UpdateSpec": func() error { return f.s.UpdateSpec(ctx, "p", item.PodSpec{}) },
		"RenamePod":  func() error { return f.s.RenamePod(ctx, "p", "x") },
		"Fork":       func() error { return f.s.Fork(ctx, "p", 1, item.Pod{ID: "f", Name: "f"}) },
		"DeletePod":  func() error { return f.s.DeletePod(ctx, "p") },
		"Claim":      func() error { _, err := f.s.Claim(ctx, "p"); return err },
		"Append":     func() error { _, err := f.s.Append(ctx, store.Batch{Pod: "p", Epoch: 1}); return err },
		"Purge":      func() error { return f.s.Purge(ctx, store.Purge{Pod: "p", Mark: purgedMark(0, 1)}) },
		"Read":       func() error { _, err := f.s.Read(ctx, "p", 0, 1); return err },
		"Inbox":      func() error { _, err := f.s.Inbox(ctx, "p"); return err },
		"Request":    func() error { _, _, err := f.s.Request(ctx, "p", "r"); return err },
		"RaiseAlert": func() error { _, err := f.s.RaiseAlert(ctx, item.Alert{Pod: "p"}); return err },
	}
	for name, call := range calls {
		if err := call(); item.ReasonOf(err) != store.ReasonPodNotFound || item.KindOf(err) != item.KindNotFound {
			f.Errorf("%s of an unknown pod gives %v, want reason %s", name, err, store.ReasonPodNotFound)
		}
	}
	pods, err := f.s.Pods(ctx)
	f.must(err)
	equal(f, "pods", len(pods), 0)
	// A name is not an id: only Pod looks up names.
	f.pod("q")
	_, err = f.s.Claim(ctx, fmt.Sprintf("name-of-%s", "q"))
	f.refused(err, item.KindNotFound, store.ReasonPodNotFound)
}
