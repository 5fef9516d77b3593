package triggers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/internal/triggers"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// newFiles is a podd on the clock of the machine, as files are, whose pod has a trigger on the files of inbox.
func newFiles(t *testing.T) (h *house, dir string) {
	t.Helper()
	h = newHouse(t)
	h.mu.Lock()
	h.now = time.Time{}
	h.mu.Unlock()
	p, err := h.host.Get(t.Context(), "site")
	check(t, err)
	dir = p.Spec.Dir
	check(t, os.Mkdir(filepath.Join(dir, "inbox"), 0o700))
	h.set(triggers.Spec{File: "inbox/**"}, false)
	return h, dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
	check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// fires waits until the trigger has fired so often, and its turns have finished.
func (h *house) fires(want int) {
	h.t.Helper()
	h.await(strings.Repeat("fired finished\n", want), func() string {
		all, err := h.wing.Receipts(h.t.Context(), "site", "t", 0, time.Time{})
		check(h.t, err)
		var b strings.Builder
		for _, r := range all {
			b.WriteString([]string{"", "pending", "fired", "joined", "missed", "skipped", "failed"}[r.Kind] + " " + r.Outcome + "\n")
		}
		return b.String()
	})
}

// told are the lists of changed files that the pod was given, in order.
func (h *house) told() (all []string) {
	h.t.Helper()
	p, err := h.host.Get(h.t.Context(), "site")
	check(h.t, err)
	check(h.t, h.host.Logs.Entries(h.t.Context(), p.ID, 0, nil, func(e item.Entry) bool {
		if s, ok := e.Kind.(item.Submitted); ok {
			for _, part := range s.Segments {
				if paste, ok := part.(item.PasteSegment); ok && paste.Name == "files" {
					all = append(all, strings.ReplaceAll(strings.TrimSpace(paste.Text), "\n", ", "))
				}
			}
		}
		return true
	}))
	return all
}

func (h *house) toldAre(want ...string) {
	h.t.Helper()
	if got := h.told(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		h.t.Errorf("the pod was told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A change of the content of a file that matches fires, in any directory that matches; the same content again, another file
// and a link do not.
func TestFilesThatChange(t *testing.T) {
	t.Parallel()
	h, dir := newFiles(t)
	write(t, dir, "inbox/a", "one")
	h.fires(1)
	write(t, dir, "inbox/a", "one") // As it was.
	write(t, dir, "other", "one")
	check(t, os.Symlink("/etc/hostname", filepath.Join(dir, "inbox", "link")))
	write(t, dir, "inbox/a", "two")
	h.fires(2)
	write(t, dir, "inbox/new/deep/b", "one")
	h.fires(3)
	check(t, os.RemoveAll(filepath.Join(dir, "inbox")))
	h.fires(4)
	write(t, dir, "inbox/\xff\n", "one")
	h.fires(5)
	h.toldAre("added inbox/a", "changed inbox/a", "added inbox/new/deep/b", "removed inbox/a, removed inbox/new/deep/b", `added "inbox/\xff\n"`)
}

// While podd is away, or the trigger is paused, changes wait; then they fire together. What it saw is in the log.
func TestFilesOverARestart(t *testing.T) {
	t.Parallel()
	h, dir := newFiles(t)
	write(t, dir, "inbox/a", "one")
	h.fires(1)
	h.stop()
	h.open()
	write(t, dir, "inbox/a", "two")
	h.fires(2)
	h.stop()
	write(t, dir, "inbox/b", "one")
	check(t, os.Remove(filepath.Join(dir, "inbox", "a")))
	h.open()
	h.fires(3)
	_, err := h.wing.Pause(t.Context(), "site", "t", "me", false)
	check(t, err)
	write(t, dir, "inbox/c", "one")
	write(t, dir, "inbox/d", "one")
	_, err = h.wing.Pause(t.Context(), "site", "t", "me", true)
	check(t, err)
	h.fires(4)
	h.toldAre("added inbox/a", "changed inbox/a", "removed inbox/a, added inbox/b", "added inbox/c, added inbox/d")
}

// passed waits until files that are written have times after at: the clock of files is a little behind.
func passed(t *testing.T, dir string, at time.Time) {
	t.Helper()
	for {
		write(t, dir, "clock", "")
		if info, err := os.Stat(filepath.Join(dir, "clock")); err != nil {
			t.Fatal(err)
		} else if info.ModTime().After(at) {
			return
		}
	}
}

// What a call of the pod changes does not fire. What somebody else changes while the turn thinks fires once, after it.
func TestFilesOfTheTurn(t *testing.T) {
	t.Parallel()
	h, dir := newFiles(t)
	steps, thinks, goOn := 0, make(chan struct{}), make(chan struct{})
	h.answer = func() scripted.Reply {
		switch steps++; steps {
		case 1:
			return scripted.Say(scripted.Call{Name: "write_file", Arguments: `{"path": "inbox/own", "content": "mine"}`})
		case 2:
			close(thinks)
			return scripted.Say(scripted.Wait(goOn), scripted.Text("done"))
		}
		return scripted.Say(scripted.Text("done"))
	}
	write(t, dir, "inbox/a", "one")
	<-thinks
	passed(t, dir, time.Now())
	write(t, dir, "inbox/b", "one")
	write(t, dir, "inbox/c", "one")
	close(goOn)
	h.fires(2)
	check(t, os.Remove(filepath.Join(dir, "inbox", "own")))
	h.fires(3)
	h.toldAre("added inbox/a", "added inbox/b, added inbox/c", "removed inbox/own")
}

// A trigger that matches too many files, or whose directory is gone, is refused; one that has become so pauses with an alert.
func TestFilesThatCannotBeWatched(t *testing.T) {
	t.Parallel()
	h, dir := newFiles(t)
	for i := range 1001 {
		write(t, dir, fmt.Sprintf("inbox/%d", i), "")
	}
	paused := func(want string) {
		t.Helper()
		h.await("paused", func() string {
			all, err := h.wing.List(t.Context(), "site")
			check(t, err)
			if strings.Contains(all[0].Paused, want) {
				return "paused"
			}
			return all[0].Paused
		})
	}
	paused("inbox/** matches too many files: at most 1000, in 1000 directories")
	alerts, err := h.host.Alerts.List(t.Context(), pod.AlertQuery{})
	check(t, err)
	if len(alerts) != 1 || !strings.Contains(alerts[0].Text, "trigger t is paused: inbox/** matches too many files") {
		t.Errorf("the alerts are %+v", alerts)
	}
	_, err = h.wing.Set(t.Context(), triggers.Setting{Pod: "site", Name: "u", Spec: triggers.Spec{File: "**", Prompt: "work"}})
	if item.ReasonOf(err) != "TOO_MANY_FILES" {
		t.Errorf("too many files: %v", err)
	}
	check(t, os.RemoveAll(dir))
	_, err = h.wing.Pause(t.Context(), "site", "t", "me", true)
	check(t, err)
	paused("does not exist")
	_, err = h.wing.Set(t.Context(), triggers.Setting{Pod: "site", Name: "u", Spec: triggers.Spec{File: "*", Prompt: "work"}})
	if item.ReasonOf(err) != "BAD_DIR" {
		t.Errorf("no directory: %v", err)
	}
}

// A file in a new directory whose own name does not match fires.
func TestFilesOfANewDirectory(t *testing.T) {
	t.Parallel()
	h, dir := newFiles(t)
	h.set(triggers.Spec{File: "inbox/*/letter"}, true)
	h.looked("u") // It watches now.
	write(t, dir, "inbox/new/letter", "one")
	h.fires(1)
	h.toldAre("added inbox/new/letter")
}

// Another pattern begins with what there is; a trigger with another condition looks at none.
func TestFilesOfAnotherPattern(t *testing.T) {
	t.Parallel()
	h, dir := newFiles(t)
	write(t, dir, "outbox/a", "one")
	h.set(triggers.Spec{File: "outbox/*"}, true)
	write(t, dir, "inbox/a", "one")
	write(t, dir, "outbox/b", "one")
	h.fires(1)
	h.set(triggers.Spec{Event: true}, true)
	write(t, dir, "outbox/c", "one")
	_, _, err := h.wing.Fire(t.Context(), triggers.Event{Pod: "site", Name: "t"})
	check(t, err)
	h.fires(2)
	h.toldAre("added outbox/b")
	check(t, h.wing.Remove(t.Context(), "site", "t"))
	p, release, err := h.host.Keep(t.Context(), "site")
	check(t, err)
	defer release()
	if len(p.State.Pending) > 0 {
		t.Errorf("entries %d are pending of a removed trigger", p.State.Pending)
	}
}

// A kill after each write of a fire for files: the change has one submit, one turn and one receipt.
func TestFilesKilledAtEachWrite(t *testing.T) {
	t.Parallel()
	for n := range 6 {
		t.Run(fmt.Sprintf("after %d writes", n), func(t *testing.T) {
			h, dir := newFiles(t)
			h.stop()
			cut := &cutStore{left: n, killed: make(chan struct{})}
			h.under = func(s store.Store) store.Store {
				cut.Store = s
				return cut
			}
			h.open()
			write(t, dir, "inbox/a", "one")
			if n < 4 {
				<-cut.killed
			} else {
				h.settles(cut.killed)
			}
			cut.kill()
			h.stop()
			h.under = nil
			h.open()
			h.fires(1)
			h.toldAre("added inbox/a")
		})
	}
}

// freeze stops the clock, or sets it so much later.
func (h *house) freeze(later time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now.IsZero() {
		h.now = time.Now()
	}
	h.now = h.now.Add(later)
}

// looked waits until podd has looked at the pod's triggers, the files of t among them: it fires a new one that comes after it.
func (h *house) looked(name string) {
	h.t.Helper()
	_, err := h.wing.Set(h.t.Context(), triggers.Setting{Pod: "site", Name: name, Spec: triggers.Spec{Event: true, Prompt: "work"}})
	check(h.t, err)
	_, _, err = h.wing.Fire(h.t.Context(), triggers.Event{Pod: "site", Name: name})
	check(h.t, err)
	h.await("fired", func() string {
		all, err := h.wing.Receipts(h.t.Context(), "site", name, 0, time.Time{})
		check(h.t, err)
		if len(all) == 1 && all[0].Kind == triggers.Fired {
			return "fired"
		}
		return fmt.Sprint(all)
	})
}

// What differs fires once it is still, and not while the turn of an earlier fire works.
func TestFilesThatAreNotStill(t *testing.T) {
	t.Parallel()
	h, dir := newFiles(t)
	thinks, goOn := make(chan struct{}), make(chan struct{})
	steps := 0
	h.answer = func() scripted.Reply {
		if steps++; steps == 1 {
			close(thinks)
			return scripted.Say(scripted.Wait(goOn), scripted.Text("done"))
		}
		return scripted.Say(scripted.Text("done"))
	}
	h.freeze(0)
	write(t, dir, "inbox/a", "one")
	h.looked("u1")
	<-thinks // That of u1.
	h.looked("u2")
	h.fires(0)
	write(t, dir, "inbox/b", "one")
	h.freeze(time.Second)
	h.looked("u3") // It differs from what was seen before.
	h.fires(0)
	h.freeze(time.Second)
	h.looked("u4")
	h.await("fired", func() string {
		all, err := h.wing.Receipts(t.Context(), "site", "t", 0, time.Time{})
		check(t, err)
		if len(all) == 1 && all[0].Kind == triggers.Fired {
			return "fired"
		}
		return fmt.Sprint(all)
	})
	write(t, dir, "inbox/c", "one")
	for n := range 3 { // The fire of a and b waits.
		h.freeze(time.Second)
		h.looked(fmt.Sprint("u5-", n))
	}
	all, err := h.wing.Receipts(t.Context(), "site", "t", 0, time.Time{})
	check(t, err)
	if len(all) != 1 {
		t.Errorf("it fired while a fire waits: %+v", all)
	}
	write(t, dir, "inbox/d", "one")
	close(goOn)
	h.mu.Lock()
	h.now = time.Time{}
	h.mu.Unlock()
	h.fires(2)
	h.toldAre("added inbox/a, added inbox/b", "added inbox/c, added inbox/d")
}

// What a call of a sub-pod changes is the pod's own, too.
func TestFilesOfSubPods(t *testing.T) {
	t.Parallel()
	h, dir := newFiles(t)
	steps := 0
	h.answer = func() scripted.Reply {
		if steps++; steps == 1 {
			return scripted.Say(scripted.Call{Name: "write_file", Arguments: `{"path": "inbox/own", "content": "mine"}`})
		}
		return scripted.Say(scripted.Text("done"))
	}
	p, err := h.host.Get(t.Context(), "site")
	check(t, err)
	spec := p.Spec
	spec.Parent = p.ID
	sub, err := h.host.Spawn(t.Context(), "sub", spec)
	check(t, err)
	_, err = h.host.Submit(t.Context(), pod.Submit{Pod: sub.ID, Segments: []item.Segment{item.TextSegment{Text: "write"}}})
	check(t, err)
	h.await("finished", func() string {
		sub, err := h.host.Get(t.Context(), "sub")
		check(t, err)
		return string(sub.Status.LastOutcome)
	})
	passed(t, dir, time.Now())
	write(t, dir, "inbox/b", "one")
	h.fires(1)
	h.toldAre("added inbox/b")
}

// Once the budget of the day is spent, an alert says so, and changes wait; with a greater one they fire.
func TestFilesWithABudget(t *testing.T) {
	t.Parallel()
	h, dir := newFiles(t)
	h.answer = func() scripted.Reply {
		reply := scripted.Say(scripted.Text("done"))
		reply.Usage = &item.Usage{Input: 1_000_000}
		return reply
	}
	h.set(triggers.Spec{File: "inbox/**", Budget: 1}, true)
	write(t, dir, "inbox/a", "one")
	h.fires(1)
	write(t, dir, "inbox/b", "one")
	h.await("trigger t has spent its budget of $1.00 for today: it goes on tomorrow", func() string {
		alerts, err := h.host.Alerts.List(t.Context(), pod.AlertQuery{})
		check(t, err)
		var all []string
		for _, a := range alerts {
			all = append(all, a.Text)
		}
		return strings.Join(all, "\n")
	})
	h.freeze(0)
	for n := range 3 {
		h.looked(fmt.Sprint("u", n))
		h.freeze(time.Second)
	}
	h.fires(1)
	h.mu.Lock()
	h.now = time.Time{}
	h.mu.Unlock()
	h.set(triggers.Spec{File: "inbox/**", Budget: 2}, true)
	h.fires(2)
	h.toldAre("added inbox/a", "added inbox/b")
}
