package postgres_test

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/internal/fleet/postgres"
	"podd/internal/testing/pgtest"
	"podd/pkg/item"
	"podd/pkg/store"
)

// open opens a store, and closes it at the end of the test.
func open(t *testing.T, cfg postgres.Config) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// socketDir is a directory whose path is short enough for a socket, and that another user may
// enter.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // the path of T's is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func proxy(t *testing.T, s *pgtest.Server) *pgtest.Proxy {
	t.Helper()
	p, err := s.NewProxy(socketDir(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func note(text string) item.Entry { return item.Entry{Kind: item.Note{Text: text}} }

// texts are those of a log's notes.
func texts(t *testing.T, s store.Store, pod string) (all []string) {
	t.Helper()
	for after := item.Seq(0); ; {
		page, err := s.Read(t.Context(), pod, after, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return all
		}
		for _, r := range page {
			e, err := r.Decode()
			if err != nil {
				t.Fatal(err)
			}
			switch k := e.Kind.(type) {
			case item.Note:
				all = append(all, k.Text)
			case item.AlertRaised:
				all = append(all, k.Alert.Text)
			}
		}
		after = page[len(page)-1].Seq
	}
}

// written appends to a pod, again where the database did not answer at all, and checks that
// the log has each batch once, in order.
func written(t *testing.T, s, reader store.Store, pod string, batches int, entry func(n int) item.Entry) {
	ctx := context.WithoutCancel(t.Context())
	var epoch store.Epoch
	must := func(call func() error) {
		for {
			err := call()
			if err == nil {
				return
			}
			if item.ReasonOf(err) != store.ReasonAway {
				t.Errorf("pod %s: %v", pod, err)
				return
			}
		}
	}
	must(func() error {
		err := s.CreatePod(ctx, item.Pod{ID: pod, Name: pod})
		if item.ReasonOf(err) == store.ReasonPodExists {
			return nil // the answer was cut
		}
		return err
	})
	must(func() (err error) { epoch, err = s.Claim(ctx, pod); return err })
	var want []string
	for n := range batches {
		must(func() error {
			_, err := s.Append(ctx, store.Batch{Pod: pod, Epoch: epoch, Entries: []item.Entry{note(fmt.Sprint(n)), entry(n)}})
			return err
		})
		want = append(want, fmt.Sprint(n), fmt.Sprintf("second %d", n))
	}
	if got := texts(t, reader, pod); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("pod %s has %d notes %q, want %d", pod, len(got), got, len(want))
	}
}

// Whatever connections break, before a write or between its commit and the answer: what
// Append acknowledged is in the log once, and what it did not is not there.
func TestCutConnections(t *testing.T) {
	needServer(t)
	schema := strings.ToLower(crand.Text())
	url := inSchema(t, schema)
	p := proxy(t, server)
	reader := open(t, postgres.Config{URL: url})
	s := open(t, postgres.Config{URL: p.URL() + "&search_path=" + schema})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var mu sync.Mutex
	cuts := 0
	p.Cut(func(bool) bool {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(25) > 0 {
			return false
		}
		cuts++
		return true
	})
	var pods sync.WaitGroup
	for n := range 4 {
		pods.Go(func() {
			written(t, s, reader, fmt.Sprintf("p%d", n), 15, func(i int) item.Entry {
				if i%5 == n {
					return item.Entry{Kind: item.AlertRaised{Alert: item.Alert{Level: item.LevelWarn, Text: fmt.Sprintf("second %d", i)}}}
				}
				return note(fmt.Sprintf("second %d", i))
			})
		})
	}
	pods.Wait()
	if cuts < 3 {
		t.Errorf("only %d cuts: the test shows little", cuts)
	}
}

// A statement that arrives after podd found that it was not written writes nothing: podd sends its
// batch again.
func TestLateStatement(t *testing.T) {
	needServer(t)
	s := open(t, postgres.Config{URL: inSchema(t, strings.ToLower(crand.Text()))})
	create(t, s, "p")
	epoch, err := s.Claim(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	submit := item.Entry{Kind: item.Submitted{RequestID: "r", Text: "late"}}
	for n, b := range []store.Batch{{Entries: []item.Entry{note("late")}}, {Entries: []item.Entry{submit}, Admit: &store.Request{ID: "r"}, Enqueue: true}} {
		b.Pod, b.Epoch = "p", epoch
		if _, err := s.Append(t.Context(), store.Batch{Pod: "p", Epoch: epoch, Entries: []item.Entry{note(fmt.Sprint(n))}}); err != nil {
			t.Fatal(err)
		}
		settle, send, err := s.Late(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if written, err := settle(); written || err != nil {
			t.Errorf("%d: the outcome is %v, %v", n, written, err)
		}
		if written, err := send(); written || err != nil {
			t.Errorf("%d: the late statement wrote: %v, %v", n, written, err)
		}
	}
	if got := strings.Join(texts(t, s, "p"), " "); got != "0 1" {
		t.Errorf("the log has %q", got)
	}
}

// A server that is killed and started again has all that was acknowledged.
func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	needServer(t)
	dir := socketDir(t)
	own, err := pgtest.Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { own.Stop(true) }()
	s := open(t, postgres.Config{URL: own.URL()})
	done := make(chan struct{})
	go func() {
		defer close(done)
		written(t, s, s, "p", 200, func(n int) item.Entry { return note(fmt.Sprintf("second %d", n)) })
	}()
	for range 3 {
		own.Stop(true)
		if err := own.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	<-done
}

// podd refuses a server that does not keep what it commits.
func TestSettingsAreRefused(t *testing.T) {
	t.Parallel()
	needServer(t)
	for _, setting := range []string{"fsync=off", "full_page_writes=off", "synchronous_commit=off", "default_transaction_read_only=on"} {
		own, err := pgtest.Start(t.Context(), socketDir(t), setting)
		if err != nil {
			t.Fatal(err)
		}
		_, err = postgres.Open(t.Context(), postgres.Config{URL: own.URL()})
		own.Stop(true)
		name, _, _ := strings.Cut(strings.TrimPrefix(setting, "default_transaction_"), "=")
		if name = strings.ReplaceAll(name, "read_only", "only to read"); item.ReasonOf(err) != store.ReasonCannotOpen || !strings.Contains(err.Error(), name) {
			t.Errorf("with %s: %v", setting, err)
		}
	}
}

// A podd whose connection breaks gets its lock back, although the server does not know yet that
// the connection is broken; another podd is refused meanwhile.
func TestHoldOutlivesAConnection(t *testing.T) {
	needServer(t)
	schema := strings.ToLower(crand.Text())
	s := open(t, postgres.Config{URL: inSchema(t, schema)})
	if err := s.Membership.Hold(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.LockAgain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := open(t, postgres.Config{URL: inSchema(t, schema)}).Membership.Hold(t.Context(), 0); item.ReasonOf(err) != store.ReasonHeld {
		t.Errorf("a second podd: %v", err)
	}
	select {
	case <-s.Failed():
		t.Error("the store failed")
	default:
	}
}

// A podd waits for the lock of one that was just killed.
func TestHoldWaits(t *testing.T) {
	needServer(t)
	url := inSchema(t, strings.ToLower(crand.Text()))
	first := open(t, postgres.Config{URL: url})
	if err := first.Membership.Hold(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	waits := make(chan string, 100)
	second := open(t, postgres.Config{URL: url, Logger: slog.New(slog.NewTextHandler(lines(waits), nil))})
	held := make(chan error, 1)
	go func() { held <- second.Membership.Hold(t.Context(), time.Minute) }()
	if line := <-waits; !strings.Contains(line, "waiting for it") {
		t.Errorf("podd logs %q", line)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-held; err != nil {
		t.Error(err)
	}
}

// lines gets what is written.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}
