package spending_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/internal/guard/spending"
	"podd/pkg/fold"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/store"
)

// desk is a Spending over a real store, with a clock of its own.
type desk struct {
	t interface {
		Helper()
		Fatal(args ...any)
		Fatalf(format string, args ...any)
	}
	dir    string
	now    time.Time
	limit  float64
	alerts []string

	bolt   *store.Bolt
	store  store.Store
	epochs map[string]store.Epoch
	*spending.Spending
}

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.FixedZone("here", 2*3600))

// models price a million input tokens of the model "m" at usd.
func models(usd float64) fold.Models {
	return fold.Models{Prices: []fold.ModelPrice{{Model: "m", Price: fold.DefaultPrice(), Money: fold.Money{Input: usd, CachedInput: usd, CacheWrite: usd, Output: usd}}}}
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, dir: t.TempDir(), now: noon, limit: 10}
	d.open()
	t.Cleanup(func() { _ = d.bolt.Close() })
	return d
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) open() {
	d.t.Helper()
	var err error
	d.bolt, err = store.OpenBolt(store.BoltConfig{Path: filepath.Join(d.dir, "podd.db")})
	d.must(err)
	d.Spending, d.store, err = spending.New(spending.Config{
		File: filepath.Join(d.dir, "spending.json"), Now: func() time.Time { return d.now },
		Alert: func(text string) { d.alerts = append(d.alerts, text) }, Logger: slog.New(slog.DiscardHandler),
	}, d.bolt)
	d.must(err)
	d.epochs = make(map[string]store.Epoch)
	d.set(d.limit, 1)
}

// set makes another limit and price apply.
func (d *desk) set(limit, usd float64) {
	d.t.Helper()
	use, _, err := d.Prepare(context.Background(), limit, models(usd))
	d.must(err)
	use()
	d.limit = limit
}

func (d *desk) restart() {
	d.t.Helper()
	d.must(d.bolt.Close())
	d.open()
}

func (d *desk) create(id string) {
	d.t.Helper()
	d.must(d.store.CreatePod(context.Background(), item.Pod{ID: id, Name: id, CreatedAt: d.now, Status: item.PodStatus{LastActivity: d.now}}))
}

// spend stores a request of a pod that costs usd, and an entry of another kind.
func (d *desk) spend(id string, usd float64, change ...func(*item.RequestUsage)) {
	d.t.Helper()
	ctx := context.Background()
	if d.epochs[id] == 0 {
		epoch, err := d.store.Claim(ctx, id)
		d.must(err)
		d.epochs[id] = epoch
	}
	p, err := d.store.Pod(ctx, id)
	d.must(err)
	at := d.now
	if at.Before(p.Status.LastActivity) {
		at = p.Status.LastActivity // the times of a log do not go back
	}
	u := item.RequestUsage{Model: "m", Measured: true, Usage: item.Usage{Requests: 1, Input: int64(usd * 1e6)}}
	for _, c := range change {
		c(&u)
	}
	status := p.Status
	status.LastActivity = at
	_, err = d.store.Append(ctx, store.Batch{Pod: id, Epoch: d.epochs[id], Status: &status, Entries: []item.Entry{
		{Time: at, Turn: 1, Kind: u}, {Time: at, Turn: 1, Kind: item.Note{Text: "and more"}},
	}})
	d.must(err)
}

func (d *desk) fork(parent, id string) {
	d.t.Helper()
	p, err := d.store.Pod(context.Background(), parent)
	d.must(err)
	last := d.now
	if last.Before(p.Status.LastActivity) {
		last = p.Status.LastActivity
	}
	d.must(d.store.Fork(context.Background(), parent, p.Last, item.Pod{ID: id, Name: id, CreatedAt: d.now, Status: item.PodStatus{LastActivity: last}}))
}

func (d *desk) want(usd float64) {
	d.t.Helper()
	if got := d.Status().USD; math.Abs(got-usd) > 1e-6 {
		d.t.Fatalf("$%v spent; want $%v", got, usd)
	}
}

func (d *desk) ask() interceptor.RequestDecision {
	d.t.Helper()
	got, err := interceptor.Chain{d.Spending}.BeforeRequest(context.Background(), interceptor.Request{Pod: "a", Turn: 1, Step: 1})
	d.must(err)
	return got
}

// What reaches the limit waits for the next midnight of the place where podd runs, with one
// alert for a day and a limit.
func TestLimit(t *testing.T) {
	d := newDesk(t)
	d.create("a")
	d.create("b")
	d.spend("a", 9.99)
	if got := d.ask(); got.Paused != "" || len(d.alerts) != 0 {
		t.Fatalf("%+v, alerts %q", got, d.alerts)
	}
	d.spend("b", 0.03)
	midnight := time.Date(2026, 3, 11, 0, 0, 0, 0, noon.Location())
	for range 3 {
		got := d.ask()
		if got.Paused != "spending paused the pod: $10.02 of $10.00 spent today (limits.max_cost_per_day)" || !got.Until.Equal(midnight) {
			t.Fatalf("%+v", got)
		}
		d.restart()
	}
	if len(d.alerts) != 1 || !strings.Contains(d.alerts[0], "pods wait until 2026-03-11 00:00") {
		t.Fatalf("alerts %q", d.alerts)
	}
	if s := d.Status(); s.Cap != 10 || !s.NextDay.Equal(midnight) {
		t.Errorf("status %+v", s)
	}
	d.now = midnight.Add(-time.Second)
	if d.ask().Paused == "" {
		t.Error("the day ended early")
	}
	d.now = midnight
	if got := d.ask(); got.Paused != "" {
		t.Errorf("the next day: %+v", got)
	}
	d.want(0)
	d.spend("a", 11)
	if d.ask(); len(d.alerts) != 2 {
		t.Errorf("alerts %q", d.alerts)
	}
}

// A limit that changes asks waiting pods again; the same one does not.
func TestLimitChanges(t *testing.T) {
	d := newDesk(t)
	d.create("a")
	d.spend("a", 12)
	changed := func(again <-chan struct{}) bool {
		select {
		case <-again:
			return true
		default:
			return false
		}
	}
	again := d.ask().Again
	if d.set(10, 1); changed(again) {
		t.Error("the same limit asks again")
	}
	if d.set(20, 1); !changed(again) || d.ask().Paused != "" {
		t.Error("a higher limit does not ask again")
	}
	d.set(11, 1)
	again = d.ask().Again
	if d.set(11, 0.5); !changed(again) || d.ask().Paused != "" {
		t.Error("lower prices do not ask again")
	}
	d.want(6)
	d.set(5, 0.5)
	again = d.ask().Again
	if d.set(0, 0.5); !changed(again) || d.ask().Paused != "" || d.Status() != (spending.Status{}) {
		t.Errorf("without a limit: %+v", d.Status())
	}
	d.spend("a", 2)
	d.set(5, 0.5)
	d.want(7)
}

// A change that is given up leaves the old limit, and what is stored meanwhile counts.
func TestLimitGivenUp(t *testing.T) {
	d := newDesk(t)
	d.create("a")
	d.spend("a", 1)
	_, drop, err := d.Prepare(t.Context(), 3, models(100))
	d.must(err)
	d.spend("a", 1)
	drop()
	d.spend("a", 1)
	d.want(3)
	use, _, err := d.Prepare(t.Context(), 3, models(2))
	d.must(err)
	d.spend("a", 1)
	use()
	d.want(8)
}

// A request without a known price does not count, and the bill of a sub-pod counts in its
// own log alone.
func TestWhatCounts(t *testing.T) {
	d := newDesk(t)
	d.create("a")
	d.spend("a", 1)
	d.spend("a", 5, func(u *item.RequestUsage) { u.Model = "unknown" })
	d.spend("a", 5, func(u *item.RequestUsage) { u.Measured = false })
	d.spend("a", 5, func(u *item.RequestUsage) { u.Purpose = item.PurposeSubPod })
	d.spend("a", 2, func(u *item.RequestUsage) { u.Purpose = item.PurposeDiscarded })
	for range 2 {
		d.want(3)
		if n := d.Status().Unpriced; n != 2 {
			t.Errorf("%d requests without a price", n)
		}
		d.restart()
	}
}

// A clock that goes back lowers nothing, also over midnight and over a restart.
func TestClockGoesBack(t *testing.T) {
	d := newDesk(t)
	d.create("a")
	d.spend("a", 4)
	d.now = noon.Add(24 * time.Hour)
	d.create("b")
	d.restart()
	d.want(0)
	d.spend("b", 3)
	d.now = noon.Add(time.Hour)
	d.ask()
	d.want(7)
	d.spend("b", 1) // its log stays at the later day
	d.want(8)
	d.restart()
	d.want(8)
	d.now = noon.Add(24 * time.Hour)
	d.want(4)
}

// Whatever pods do, and however often podd restarts, the sum is that of the requests of the
// day: those of forks count once, those of deleted pods and purged entries stay.
func TestSumIsExact(t *testing.T) {
	root, runs := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := filepath.Join(root, fmt.Sprint(runs))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		d := &desk{t: t, dir: dir, now: noon, limit: 10}
		d.open()
		defer func() { _ = d.bolt.Close() }()
		days := map[string]float64{}
		today := func() string { return d.now.Format(time.DateOnly) }
		var pods []string
		made := 0
		var trashed []string
		some := func() string {
			if len(pods) == 0 {
				t.Skip("no pods")
			}
			return rapid.SampledFrom(pods).Draw(t, "pod")
		}
		fresh := func() string { made++; return fmt.Sprint("p", made) }
		t.Repeat(map[string]func(*rapid.T){
			"create": func(*rapid.T) { id := fresh(); d.create(id); pods = append(pods, id) },
			"spend": func(t *rapid.T) {
				usd := float64(rapid.IntRange(1, 5).Draw(t, "usd"))
				d.spend(some(), usd)
				days[today()] += usd
			},
			"fork": func(*rapid.T) {
				parent := some()
				if p, err := d.store.Pod(context.Background(), parent); err != nil || p.Last == 0 {
					return
				}
				id := fresh()
				d.now = d.now.Add(time.Second)
				d.fork(parent, id)
				pods = append(pods, id)
			},
			"delete": func(*rapid.T) {
				id := some()
				d.must(d.store.DeletePod(context.Background(), id))
				for i, p := range pods {
					if p == id {
						pods = append(pods[:i:i], pods[i+1:]...)
						break
					}
				}
			},
			"trash": func(*rapid.T) {
				id := some()
				d.must(d.store.TrashPods(context.Background(), []string{id}, d.now))
				pods = slices.DeleteFunc(pods, func(p string) bool { return p == id })
				trashed = append(trashed, id)
			},
			"restore": func(t *rapid.T) {
				if len(trashed) == 0 {
					t.Skip("no trash")
				}
				id := rapid.SampledFrom(trashed).Draw(t, "trashed")
				d.must(d.store.RestorePod(context.Background(), id, fresh()))
				trashed = slices.DeleteFunc(trashed, func(p string) bool { return p == id })
				pods = append(pods, id)
			},
			"purge": func(*rapid.T) {
				p, err := d.store.Pod(context.Background(), some())
				d.must(err)
				if p.Last-p.First < 2 {
					return
				}
				d.must(d.store.Purge(context.Background(), store.Purge{Pod: p.ID, UpTo: p.Last - 1, Last: p.Last, Mark: item.Entry{Time: p.Status.LastActivity, Kind: item.Purged{At: d.now, From: p.Last}}}))
			},
			"wait":    func(t *rapid.T) { d.now = d.now.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "hours")) * time.Hour) },
			"restart": func(*rapid.T) { d.restart() },
			"reprice": func(*rapid.T) { d.set(0, 1); d.set(10, 1) },
			"":        func(*rapid.T) { d.want(days[today()]) },
		})
	})
}

// Requests that are stored while the logs are read count once.
func TestStoredWhileLogsAreRead(t *testing.T) {
	d := newDesk(t)
	d.create("a")
	d.create("b")
	d.spend("b", 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			d.spend("a", 1)
		}
	}()
	for price := 2.0; ; price++ {
		use, _, err := d.Prepare(t.Context(), 10, models(price))
		d.must(err)
		use()
		select {
		case <-done:
			d.want(201 * price)
			return
		default:
		}
	}
}

// A file that cannot be read stops podd instead of forgetting what was spent.
func TestDamagedFile(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(t.TempDir(), "spending.json")
	d.must(os.WriteFile(file, []byte("{"), 0o600))
	_, _, err := spending.New(spending.Config{File: file, Now: time.Now}, d.bolt)
	if item.KindOf(err) != item.KindPrecondition || !strings.Contains(err.Error(), file) {
		t.Errorf("%v", err)
	}
}

// damagedPod is a store in which the record of a pod cannot be read.
type damagedPod struct{ store.Store }

func (damagedPod) Pod(context.Context, string) (item.Pod, error) {
	return item.Pod{}, item.Errorf(item.KindDataLoss, "DAMAGED", "the record is damaged")
}

// What a pod with a damaged record spent stays spent when it is deleted.
func TestDeleteDamaged(t *testing.T) {
	d := newDesk(t)
	d.create("a")
	d.spend("a", 3)
	s, damaged, err := spending.New(spending.Config{
		File: filepath.Join(d.dir, "spending.json"), Now: func() time.Time { return d.now }, Logger: slog.New(slog.DiscardHandler),
	}, damagedPod{d.bolt})
	d.must(err)
	use, _, err := s.Prepare(t.Context(), 10, models(1))
	d.must(err)
	use()
	d.must(damaged.DeletePod(t.Context(), "a"))
	d.restart()
	d.want(3)
}

// A pod whose use cannot be recorded is not deleted; one that used nothing today is.
func TestDeleteWithoutSpace(t *testing.T) {
	d := newDesk(t)
	d.create("a")
	d.create("b")
	d.spend("a", 1)
	d.must(os.Mkdir(filepath.Join(d.dir, "spending.json"), 0o700))
	d.must(os.WriteFile(filepath.Join(d.dir, "spending.json", "x"), nil, 0o600))
	if err := d.store.DeletePod(t.Context(), "a"); item.ReasonOf(err) != "SPENDING" || !strings.Contains(err.Error(), "max_cost_per_day") {
		t.Errorf("%v", err)
	}
	d.must(d.store.DeletePod(t.Context(), "b"))
	d.set(0, 1)
	d.must(d.store.DeletePod(t.Context(), "a"))
}
