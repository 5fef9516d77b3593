package triggers_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"podd/internal/testing/logs"
	"podd/internal/triggers"
	"podd/internal/workspace"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin is the time at which the clock of each test begins.
var begin = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// house is a podd with triggers, whose clock a test sets.
type house struct {
	t      *testing.T
	dir    string
	client *openai.Client
	host   *pod.Host
	wing   *triggers.Wing
	stop   func()
	// under is put under the next podd.
	under func(store.Store) store.Store
	// mu guards now, which is the clock of the machine if it is zero, and answer, which is what the model says; nil fails.
	mu     sync.Mutex
	now    time.Time
	answer func() scripted.Reply
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir(), now: begin, answer: func() scripted.Reply { return scripted.Say(scripted.Text("done")) }}
	model, err := scripted.Serve(scripted.Config{Handler: func(context.Context, scripted.Request) scripted.Reply {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.answer()
	}})
	check(t, err)
	h.client, err = openai.New(openai.Config{BaseURL: model.URL(), API: "chat"})
	check(t, err)
	logs.AtEnd(t, h.dir)
	h.open()
	t.Cleanup(func() {
		h.stop()
		h.client.Close()
		check(t, model.Close())
	})
	_, err = h.host.Create(t.Context(), "site", item.PodSpec{Dir: t.TempDir()})
	check(t, err)
	return h
}

func (h *house) open() {
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(h.dir, "podd.db")})
	check(h.t, err)
	var under store.Store = s
	if h.under != nil {
		under = h.under(s)
	}
	w, err := workspace.New(workspace.Config{SpoolDir: filepath.Join(h.dir, "spool")}, workspace.Settings{})
	check(h.t, err)
	h.host, err = pod.NewHost(context.Background(), pod.Config{
		Fixed: pod.Fixed{Store: under, Workspaces: w, Now: h.clock},
		Settings: pod.Settings{Router: llm.One(h.client), Model: item.ModelRef{Model: "m"}, Models: fold.Models{Prices: []fold.ModelPrice{
			{Model: "m", Price: fold.DefaultPrice(), Money: fold.Money{Input: 1, CachedInput: 1, CacheWrite: 1, Output: 1}},
		}}},
	})
	check(h.t, err)
	h.wing = triggers.Open(triggers.Config{Host: h.host, Webhooks: hooks(), Now: h.clock})
	check(h.t, h.host.Recover(h.t.Context()))
	h.stop = func() {
		h.host.Close(context.Background())
		w.Close()
		check(h.t, s.Close())
	}
}

func (h *house) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now.IsZero() {
		return time.Now()
	}
	return h.now
}

// at sets the clock to so long after the beginning, and has the wing look at it.
func (h *house) at(after time.Duration) {
	h.t.Helper()
	h.mu.Lock()
	h.now = begin.Add(after)
	h.mu.Unlock()
	// What is refused changes nothing, and has the wing look.
	if err := h.wing.Remove(h.t.Context(), "site", "no-trigger"); item.ReasonOf(err) != "TRIGGER_NOT_FOUND" {
		h.t.Fatal(err)
	}
}

// resume goes on with the trigger t.
func (h *house) resume() {
	h.t.Helper()
	_, err := h.wing.Pause(h.t.Context(), "site", "t", "me", true)
	check(h.t, err)
}

// set adds or changes the trigger t.
func (h *house) set(spec triggers.Spec, change bool) {
	h.t.Helper()
	spec.Prompt = "work"
	_, err := h.wing.Set(h.t.Context(), triggers.Setting{Pod: "site", Name: "t", Spec: spec, Change: change})
	check(h.t, err)
}

// receipts waits until the receipts of the trigger are these, a line each.
func (h *house) receipts(want ...string) {
	h.t.Helper()
	h.await(strings.Join(want, "\n"), func() string {
		all, err := h.wing.Receipts(h.t.Context(), "site", "t", 0, time.Time{})
		check(h.t, err)
		var lines []string
		for _, r := range all {
			lines = append(lines, shown(r))
		}
		return strings.Join(lines, "\n")
	})
}

// await waits until look sees something, as long as what it sees changes.
func (h *house) await(want string, look func() string) {
	h.t.Helper()
	seen, changed := "", time.Now()
	for ; time.Since(changed) < time.Minute; time.Sleep(5 * time.Millisecond) {
		now := look()
		if now == want {
			return
		}
		if now != seen {
			seen, changed = now, time.Now()
		}
	}
	h.t.Fatalf("for a minute it is\n%s\nwant\n%s", seen, want)
}

// shown is a receipt in a line: 12:10 fired 1 finished.
func shown(r triggers.Receipt) string {
	kinds := []string{"", "pending", "fired", "joined", "missed", "skipped", "failed"}
	line := r.Due.UTC().Format("15:04 ") + kinds[r.Kind]
	if r.Count > 1 {
		line = r.First.UTC().Format("15:04-") + line + fmt.Sprintf(" %d times", r.Count)
	}
	if r.Number > 0 {
		line += fmt.Sprintf(" %d", r.Number)
	}
	return strings.TrimRight(line+" "+r.Outcome, " ")
}

// Each due time has one receipt, over restarts, clocks that are set and missed times.
func TestDueTimes(t *testing.T) {
	t.Run("in time", func(t *testing.T) {
		h := newHouse(t)
		h.set(triggers.Spec{Every: 10 * time.Minute}, false)
		h.at(9 * time.Minute)
		h.at(10 * time.Minute)
		h.receipts("12:10 fired 1 finished")
		h.at(20*time.Minute + 30*time.Second)
		h.receipts("12:10 fired 1 finished", "12:20 fired 2 finished")
	})
	t.Run("missed", func(t *testing.T) {
		h := newHouse(t)
		h.set(triggers.Spec{Every: 10 * time.Minute}, false)
		h.stop()
		h.now = begin.Add(45 * time.Minute)
		h.open()
		h.receipts("12:10-12:30 missed 3 times", "12:40 fired 1 finished")
	})
	t.Run("skipped", func(t *testing.T) {
		h := newHouse(t)
		h.set(triggers.Spec{Every: 10 * time.Minute, Missed: "skip"}, false)
		h.at(45 * time.Minute)
		h.receipts("12:10-12:40 missed 4 times")
	})
	t.Run("all that were missed", func(t *testing.T) {
		h := newHouse(t)
		h.set(triggers.Spec{Every: 10 * time.Minute, Missed: "all:3"}, false)
		h.at(45 * time.Minute)
		h.receipts("12:10 missed", "12:20 fired 1 finished", "12:30 fired 2 finished", "12:40 fired 3 finished")
	})
	t.Run("a clock set back", func(t *testing.T) {
		h := newHouse(t)
		h.set(triggers.Spec{Every: 10 * time.Minute}, false)
		h.at(10 * time.Minute)
		h.receipts("12:10 fired 1 finished")
		h.at(5 * time.Minute)
		h.at(10 * time.Minute)
		h.at(20 * time.Minute)
		h.receipts("12:10 fired 1 finished", "12:20 fired 2 finished")
	})
	t.Run("once", func(t *testing.T) {
		h := newHouse(t)
		h.set(triggers.Spec{At: begin.Add(time.Hour)}, false)
		h.at(time.Hour)
		h.receipts("13:00 fired 1 finished")
		h.at(2 * time.Hour)
		h.stop()
		h.open()
		h.receipts("13:00 fired 1 finished")
	})
	t.Run("a pause is a miss", func(t *testing.T) {
		h := newHouse(t)
		h.set(triggers.Spec{Every: 10 * time.Minute, Missed: "skip"}, false)
		_, err := h.wing.Pause(t.Context(), "site", "t", "me", false)
		check(t, err)
		h.at(25 * time.Minute)
		h.resume()
		h.receipts("12:10-12:20 missed 2 times")
	})
	t.Run("a new condition counts from now", func(t *testing.T) {
		h := newHouse(t)
		h.set(triggers.Spec{Every: time.Hour}, false)
		h.at(30 * time.Minute)
		h.set(triggers.Spec{Every: 20 * time.Minute}, true)
		h.at(49 * time.Minute)
		h.at(50 * time.Minute)
		h.receipts("12:50 fired 1 finished")
	})
}

// A busy pod has one fire waiting; later due times join it, or are skipped.
func TestBusyTarget(t *testing.T) {
	h := newHouse(t)
	hold := make(chan struct{})
	h.answer = func() scripted.Reply { return scripted.Say(scripted.Wait(hold), scripted.Text("done")) }
	h.set(triggers.Spec{Every: time.Minute}, false)
	h.at(time.Minute)
	h.receipts("12:01 fired 1")
	h.await("running", func() string {
		p, err := h.host.Get(t.Context(), "site")
		check(t, err)
		return string(p.Status.State)
	})
	h.at(2 * time.Minute)
	h.receipts("12:01 fired 1", "12:02 fired 2")
	h.at(3 * time.Minute)
	h.receipts("12:01 fired 1", "12:02 fired 2", "12:03 joined")
	h.set(triggers.Spec{Every: time.Minute, Skip: true}, true)
	h.at(4 * time.Minute)
	h.receipts("12:01 fired 1", "12:02 fired 2", "12:03 joined", "12:04 skipped")
	close(hold)
	h.receipts("12:01 fired 1 finished", "12:02 fired 2 finished", "12:03 joined", "12:04 skipped")
}

// Six events a minute are submitted; more wait, and none is lost. More than a hundred are refused.
func TestFlood(t *testing.T) {
	h := newHouse(t)
	h.set(triggers.Spec{Event: true}, false)
	refused := 0
	for range 120 {
		_, _, err := h.wing.Fire(t.Context(), triggers.Event{Pod: "site", Name: "t", Data: "x"})
		if err != nil && item.ReasonOf(err) != "TRIGGER_BUSY" {
			t.Fatal(err)
		}
		if err != nil {
			refused++
		}
	}
	if refused < 14 || refused > 20 {
		t.Errorf("%d of 120 events were refused", refused)
	}
	minute := time.Duration(0)
	h.await(fmt.Sprint(120-refused), func() string {
		all, err := h.wing.Receipts(t.Context(), "site", "t", 0, time.Time{})
		check(t, err)
		finished := 0
		for _, r := range all {
			if r.Outcome == "finished" {
				finished++
			}
		}
		if most := 6 * (1 + int(minute/time.Minute)); finished > most {
			t.Fatalf("%d fires in %s", finished, minute)
		}
		if finished >= 6*(1+int(minute/time.Minute)) {
			minute += time.Minute
			h.at(minute)
		}
		return fmt.Sprint(finished)
	})
}

// What cannot be submitted is refused at once: a prompt or a text of an event that is too long.
func TestTooLong(t *testing.T) {
	h := newHouse(t)
	most := h.host.Settings().MaxSubmitBytes
	_, err := h.wing.Set(t.Context(), triggers.Setting{Pod: "site", Name: "t", Spec: triggers.Spec{Event: true, Prompt: strings.Repeat("x", most/2+1)}})
	if item.ReasonOf(err) != "BAD_TRIGGER" {
		t.Errorf("a long prompt: %v", err)
	}
	_, err = h.wing.Set(t.Context(), triggers.Setting{Pod: "site", Name: "t", Spec: triggers.Spec{Event: true, Prompt: strings.Repeat("x", most/2)}})
	check(t, err)
	_, _, err = h.wing.Fire(t.Context(), triggers.Event{Pod: "site", Name: "t", Data: strings.Repeat("x", 64<<10+1)})
	if item.ReasonOf(err) != "EVENT_TOO_LARGE" {
		t.Errorf("a long event: %v", err)
	}
	_, _, err = h.wing.Fire(t.Context(), triggers.Event{Pod: "site", Name: "t", Data: strings.Repeat("x", 64<<10)})
	check(t, err)
	h.receipts("12:00 fired 1 finished")
}

// A new pod that cannot get its fire yet gets it later, and no second one is made.
func TestNewPodGetsItsFireLater(t *testing.T) {
	h := newHouse(t)
	h.set(triggers.Spec{Event: true, New: "site-{n}"}, false)
	h.stop()
	refusing := &refusingStore{refused: make(chan struct{})}
	h.under = func(s store.Store) store.Store {
		refusing.Store = s
		return refusing
	}
	h.open()
	_, _, err := h.wing.Fire(t.Context(), triggers.Event{Pod: "site", Name: "t"})
	check(t, err)
	<-refusing.refused
	h.at(time.Minute)
	h.receipts("12:00 fired 1 finished")
	pods, err := h.host.List(t.Context(), "")
	check(t, err)
	if len(pods) != 2 {
		t.Errorf("there are %d pods, want 2", len(pods))
	}
}

// refusingStore has no space for the first submit.
type refusingStore struct {
	store.Store
	once    sync.Once
	refused chan struct{}
}

// Append refuses the first submit.
func (s *refusingStore) Append(ctx context.Context, b store.Batch) (appended store.Appended, err error) {
	if b.Admit != nil {
		s.once.Do(func() {
			err = item.Errorf(item.KindExhausted, store.ReasonNoSpace, "no space left")
			close(s.refused)
		})
	}
	if err != nil {
		return store.Appended{}, err
	}
	return s.Store.Append(ctx, b)
}

// Five failed turns in a row pause a trigger, with one alert.
func TestFailures(t *testing.T) {
	h := newHouse(t)
	h.answer = func() scripted.Reply { return scripted.Fail(400, "invalid_request_error", "no", 0) }
	h.set(triggers.Spec{Every: time.Minute}, false)
	var want []string
	for n := range 5 {
		h.at(time.Duration(n+1) * time.Minute)
		want = append(want, fmt.Sprintf("12:%02d fired %d failed", n+1, n+1))
		h.receipts(want...)
	}
	h.await("5 turns failed", func() string {
		all, err := h.wing.List(t.Context(), "site")
		check(t, err)
		return all[0].Paused
	})
	alerts, err := h.host.Alerts.List(t.Context(), pod.AlertQuery{})
	check(t, err)
	told := 0
	for _, a := range alerts {
		if a.Source == "triggers" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("there are %d alerts, want 1: %v", told, alerts)
	}
}

// A kill after each write of a fire: the fire has one submit, one turn and one receipt.
func TestKilledAtEachWrite(t *testing.T) {
	for _, target := range []string{"", "site-{n}"} {
		for n, over := 0, false; !over; n++ {
			t.Run(fmt.Sprintf("%q after %d writes", target, n), func(t *testing.T) { over = killedAfter(t, target, n) })
		}
	}
}

// killedAfter says that a fire needs no more writes than that.
func killedAfter(t *testing.T, target string, writes int) (over bool) {
	h := newHouse(t)
	h.set(triggers.Spec{Event: true, New: target}, false)
	h.stop()
	cut := &cutStore{left: writes, killed: make(chan struct{})}
	h.under = func(s store.Store) store.Store {
		cut.Store = s
		return cut
	}
	h.open()
	event := triggers.Event{Pod: "site", Name: "t", ID: "e"}
	_, _, err := h.wing.Fire(t.Context(), event)
	acknowledged := err == nil
	if acknowledged {
		over = h.settles(cut.killed)
	}
	cut.kill()
	h.stop()
	h.under = nil
	h.open()
	if _, again, err := h.wing.Fire(t.Context(), event); err != nil || acknowledged && !again {
		t.Fatalf("the event again: known %t, %v", again, err)
	}
	h.receipts("12:00 fired 1 finished")
	pods, err := h.host.List(t.Context(), "")
	check(t, err)
	turns := int64(0)
	for _, p := range pods {
		turns += p.Status.Turn
	}
	if turns != 1 {
		t.Errorf("the event had %d turns", turns)
	}
	return over
}

// settles waits until the fire has its whole receipt, or podd is killed.
func (h *house) settles(killed <-chan struct{}) bool {
	for {
		all, err := h.wing.Receipts(h.t.Context(), "site", "t", 0, time.Time{})
		check(h.t, err)
		if len(all) == 1 && all[0].Outcome != "" {
			return true
		}
		select {
		case <-killed:
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
}

var errKilled = errors.New("killed")

// cutStore is a store that refuses all writes after some.
type cutStore struct {
	store.Store
	mu     sync.Mutex
	left   int
	killed chan struct{}
}

// Append refuses the write after the last one.
func (s *cutStore) Append(ctx context.Context, b store.Batch) (store.Appended, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left == -1 {
		close(s.killed)
	}
	if s.left < 0 {
		return store.Appended{}, errKilled
	}
	return s.Store.Append(ctx, b)
}

func (s *cutStore) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left >= 0 {
		s.left = 0
	}
}

// A trigger that is never due keeps no old part of its pod's log from being removed.
func TestOldTriggersStayNearTheEnd(t *testing.T) {
	h := newHouse(t)
	h.set(triggers.Spec{Event: true}, false)
	p, release, err := h.host.Keep(t.Context(), "site")
	check(t, err)
	defer release()
	seq, err := p.Record(t.Context(), func(time.Time, fold.State) []item.Kind {
		return slices.Repeat([]item.Kind{item.WingEntry{Wing: "other", Name: "entry"}}, 3000)
	})
	check(t, err)
	h.at(0)
	h.await("all", func() string {
		f, err := h.host.Logs.Fold(t.Context(), p.Pod.ID)
		check(t, err)
		if pending := f.State.Pending; len(pending) != 2 || pending[0] < seq {
			return fmt.Sprint(pending)
		}
		return "all"
	})
	_, _, err = h.wing.Fire(t.Context(), triggers.Event{Pod: "site", Name: "t"})
	check(t, err)
	h.receipts("12:00 fired 1 finished")
}

// A spent budget skips the due times of the day, with one alert.
func TestBudget(t *testing.T) {
	h := newHouse(t)
	h.answer = func() scripted.Reply {
		reply := scripted.Say(scripted.Text("done"))
		reply.Usage = &item.Usage{Input: 600_000}
		return reply
	}
	h.set(triggers.Spec{Every: time.Hour, Budget: 1}, false)
	h.at(1 * time.Hour)
	h.receipts("13:00 fired 1 finished")
	h.at(2 * time.Hour)
	h.receipts("13:00 fired 1 finished", "14:00 fired 2 finished")
	h.at(3 * time.Hour)
	h.at(4 * time.Hour)
	h.receipts("13:00 fired 1 finished", "14:00 fired 2 finished", "15:00 skipped", "16:00 skipped")
	alerts, err := h.host.Alerts.List(t.Context(), pod.AlertQuery{})
	check(t, err)
	if len(alerts) != 1 || !strings.Contains(alerts[0].Text, "has spent its budget of $1.00 for today") {
		t.Errorf("the alerts are %+v", alerts)
	}
	_, err = h.wing.Pause(t.Context(), "site", "t", "me", false)
	check(t, err)
	h.set(triggers.Spec{Every: time.Hour, Budget: 1, Missed: "skip"}, true)
	h.at(25 * time.Hour) // Another day.
	h.resume()
	h.receipts("13:00 fired 1 finished", "14:00 fired 2 finished", "15:00 skipped", "16:00 skipped", "17:00-12:00 missed 20 times", "13:00 fired 3 finished")
}

// A trigger after a pod's turns has a receipt for each end, also those while podd did not run or the trigger was paused.
func TestAfterTurns(t *testing.T) {
	h := newHouse(t)
	ci, err := h.host.Create(t.Context(), "ci", item.PodSpec{Dir: t.TempDir()})
	check(t, err)
	h.set(triggers.Spec{After: "ci", On: []item.Outcome{item.OutcomeFinished}}, false)
	work := func() {
		t.Helper()
		s, err := h.host.Submit(t.Context(), pod.Submit{Pod: ci.ID, Segments: []item.Segment{item.TextSegment{Text: "test"}}})
		check(t, err)
		h.await("ended", func() string {
			ends := 0
			check(t, h.host.Logs.Entries(t.Context(), ci.ID, s.Seq, nil, func(e item.Entry) bool {
				if _, ended := e.Kind.(item.TurnEnded); ended {
					ends++
				}
				return true
			}))
			if ends > 0 {
				return "ended"
			}
			return "runs"
		})
	}
	work()
	h.receipts("12:00 fired 1 finished")
	_, err = h.wing.Pause(t.Context(), "site", "t", "me", false)
	check(t, err)
	work()
	work()
	h.receipts("12:00 fired 1 finished")
	h.resume()
	h.receipts("12:00 fired 1 finished", "12:00 joined", "12:00 fired 2 finished")
	check(t, h.host.Delete(t.Context(), "ci"))
	h.at(time.Minute)
	h.await("the pod that it waits for was deleted", func() string {
		all, err := h.wing.List(t.Context(), "site")
		check(t, err)
		return all[0].Paused
	})
}
