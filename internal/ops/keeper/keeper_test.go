package keeper_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"podd/internal/ops/keeper"
	"podd/pkg/item"
	"podd/pkg/store"
)

// verbs are the checks that this test binary runs as a checker, by its first argument.
const (
	verbCheck = "check-for-test"
	verbDie   = "die-for-test"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case verbCheck:
			os.Exit(checkForTest(os.Args[2:]))
		case verbDie:
			// The number of a signal, or what Go writes before it exits with 2.
			if number, err := strconv.Atoi(os.Args[2]); err == nil {
				signal.Reset()
				_ = syscall.Kill(os.Getpid(), syscall.Signal(number))
				time.Sleep(time.Hour) // A select without cases is a deadlock to the runtime.
			}
			fmt.Fprintln(os.Stderr, os.Args[2])
			os.Exit(2)
		}
	}
	goleak.VerifyTestMain(m)
}

func checkForTest(args []string) int {
	if keeper.PrintCheck(context.Background(), os.Stdout, args[len(args)-1], args[0] == "--quick") != nil {
		return 1
	}
	return 0
}

func config(t *testing.T) keeper.Config {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return keeper.Config{
		Dir: dir, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Schedule: keeper.Schedule{Every: time.Hour, Keep: 2, Age: 100 * time.Hour},
		Checker:  []string{os.Args[0], verbCheck},
	}
}

func open(t *testing.T, c keeper.Config) *keeper.Keeper {
	t.Helper()
	k, err := keeper.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func closeKeeper(t *testing.T, k *keeper.Keeper) {
	t.Helper()
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

// crash closes a database the way a killed process does: without a marker.
func crash(t *testing.T, k *keeper.Keeper) {
	t.Helper()
	if err := k.Store().Close(); err != nil {
		t.Error(err)
	}
}

func fill(t *testing.T, k *keeper.Keeper, pod string) {
	t.Helper()
	s := k.Store()
	if err := s.CreatePod(t.Context(), item.Pod{ID: pod, Name: pod}); err != nil {
		t.Fatal(err)
	}
	epoch, err := s.Claim(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Append(t.Context(), store.Batch{Pod: pod, Epoch: epoch, Entries: []item.Entry{{Kind: item.Note{Text: "the note of " + pod}}}})
	if err != nil {
		t.Fatal(err)
	}
}

// pods are the names of the pods in a database.
func pods(t *testing.T, k *keeper.Keeper) string {
	t.Helper()
	list, err := k.Store().Pods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

func wantPods(t *testing.T, k *keeper.Keeper, want string) {
	t.Helper()
	if got := pods(t, k); got != want {
		t.Errorf("the pods are %q, want %q", got, want)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func glob(t *testing.T, parts ...string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// Open checks a database that was not closed, and does not check one that was. Damage to
// one pod does not keep podd from starting.
func TestUncleanStart(t *testing.T) {
	c := config(t)
	k := open(t, c)
	fill(t, k, "p")
	closeKeeper(t, k)
	dies := c
	dies.Checker = dying("7")
	k = open(t, dies)
	wantPods(t, k, "p")
	crash(t, k)
	before := read(t, filepath.Join(c.Dir, "podd.db"))

	k = open(t, c)
	wantPods(t, k, "p")
	crash(t, k)
	damageRecord(t, c.Dir)
	k = open(t, c)
	fill(t, k, "q")
	crash(t, k)
	write(t, filepath.Join(c.Dir, "podd.db"), before)

	_, err := keeper.Open(t.Context(), dies)
	wantAside(t, c, err, "crashed", before)
}

// dying is a checker that does not survive.
func dying(how string) []string { return []string{os.Args[0], verbDie, how} }

// Only what the content of a file does to a check is damage. A check that ends for another reason says nothing
// about the file, which stays, and the next start checks it again.
func TestCheckThatIsNotCompleted(t *testing.T) {
	for how, damaged := range map[string]bool{
		"7": true, "11": true, "9": false, "6": false, "15": false,
		"unexpected fault address 0x7f\nfatal error: fault":                                          true,
		"runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow":        true,
		"panic: page 3: already freed":                                                               true,
		"runtime: cannot reserve arena virtual address space\nfatal error: out of memory":            false,
		"runtime: failed to create new OS thread (have 5 already; errno=11)\nfatal error: newosproc": false,
		"podd: unknown command": false,
	} {
		t.Run(how, func(t *testing.T) {
			c := config(t)
			k := open(t, c)
			fill(t, k, "p")
			crash(t, k)
			before := read(t, filepath.Join(c.Dir, "podd.db"))
			dies := c
			dies.Checker = dying(how)
			if _, _, err := keeper.CheckFile(t.Context(), dies); damaged != (err == nil) || err != nil && item.KindOf(err) != item.KindPrecondition {
				t.Errorf("podd check: %v", err)
			}
			_, err := keeper.Open(t.Context(), dies)
			if damaged {
				wantAside(t, c, err, "crashed", before)
				return
			}
			if item.ReasonOf(err) != keeper.ReasonNotChecked || len(glob(t, c.Dir, "podd.d*")) != 1 {
				t.Errorf("%v; files %q", err, glob(t, c.Dir, "podd.*"))
			}
			k = open(t, c)
			wantPods(t, k, "p")
			closeKeeper(t, k)
		})
	}
}

// patch replaces text everywhere in a file: bbolt leaves old pages behind, and the test
// does not know which one is current.
func patch(t *testing.T, path, old, replacement string) {
	t.Helper()
	b := read(t, path)
	if !bytes.Contains(b, []byte(old)) || len(old) != len(replacement) {
		t.Fatalf("%q is not there, or not as long as %q", old, replacement)
	}
	write(t, path, bytes.ReplaceAll(b, []byte(old), []byte(replacement)))
}

// damageRecord changes a byte of pod p's note.
func damageRecord(t *testing.T, dir string) {
	t.Helper()
	patch(t, filepath.Join(dir, "podd.db"), "the note of p", "the nose of p")
}

// wantAside checks that Open moved the unchanged database aside, and that podd does not
// start empty after that unless a person decides so.
func wantAside(t *testing.T, c keeper.Config, err error, why string, content []byte) {
	t.Helper()
	if item.KindOf(err) != item.KindDataLoss || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("error %v, want a sentence with %q", err, why)
	}
	aside := glob(t, c.Dir, "podd.db.damaged-*")
	if len(aside) != 1 || !bytes.Equal(read(t, aside[0]), content) || !strings.Contains(err.Error(), aside[0]) {
		t.Fatalf("aside is %q; the error says %v", aside, err)
	}
	for range 2 {
		_, again := keeper.Open(t.Context(), c)
		if again == nil || again.Error() != err.Error() {
			t.Fatalf("at the next start: %v\nwant %v", again, err)
		}
	}
	if err := os.Remove(filepath.Join(c.Dir, "podd.damaged")); err != nil {
		t.Fatal(err)
	}
	k := open(t, c)
	wantPods(t, k, "")
	closeKeeper(t, k)
	if !bytes.Equal(read(t, aside[0]), content) {
		t.Error("what was moved aside was changed")
	}
}

// Any invalid file in place of podd's database is moved aside, and the error names the
// newest snapshot. A copy of that snapshot works.
func TestDamagedDatabase(t *testing.T) {
	for name, bad := range map[string]func(good []byte) []byte{
		"truncated":          func(good []byte) []byte { return good[:3*os.Getpagesize()] },
		"half a page":        func(good []byte) []byte { return good[:100] },
		"text":               func([]byte) []byte { return []byte("this is no database\n") },
		"zeros":              func(good []byte) []byte { return make([]byte, len(good)) },
		"zeros behind heads": func(good []byte) []byte { return append(good[:2*os.Getpagesize()], make([]byte, len(good))...) },
	} {
		for _, unclean := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, unclean %v", name, unclean), func(t *testing.T) {
				c := config(t)
				k := open(t, c)
				fill(t, k, "p")
				if err := k.Snapshot(t.Context()); err != nil {
					t.Fatal(err)
				}
				fill(t, k, "q")
				if unclean {
					crash(t, k)
				} else {
					closeKeeper(t, k)
				}
				path := filepath.Join(c.Dir, "podd.db")
				content := bad(read(t, path))
				write(t, path, content)
				_, err := keeper.Open(t.Context(), c)
				snapshots := glob(t, c.Dir, "snapshots", "podd-*.db")
				if len(snapshots) != 1 || err == nil || !strings.Contains(err.Error(), "copy "+snapshots[0]+" to "+path) {
					t.Fatalf("snapshots are %q, the error says %v", snapshots, err)
				}
				wantAside(t, c, err, "damaged", content)
				write(t, path, read(t, snapshots[0]))
				k = open(t, c)
				wantPods(t, k, "p")
				closeKeeper(t, k)
			})
		}
	}
}

// A file without damage stays in place, also after a crash: an empty file, a newer
// schema, another program's database, a file that never was podd's.
func TestNotMovedAside(t *testing.T) {
	page := os.Getpagesize()
	for name, tt := range map[string]struct {
		change func(t *testing.T, c keeper.Config, path string)
		reason string
		says   string
	}{
		"empty": {func(t *testing.T, _ keeper.Config, path string) { write(t, path, nil) }, store.ReasonUnreadable, "the newest snapshot is "},
		"newer": {func(t *testing.T, _ keeper.Config, path string) {
			patch(t, path, "version\x00\x00\x00\x05", "version\x00\x00\x01\x00")
		}, store.ReasonNewer, "newer podd"},
		"another program's": {func(t *testing.T, _ keeper.Config, path string) {
			patch(t, path, "formatpodd", "formatpost")
		}, store.ReasonUnreadable, "not a database of podd"},
		"never podd's": {func(t *testing.T, c keeper.Config, path string) {
			write(t, path, make([]byte, 8*page))
			if err := os.Remove(filepath.Join(c.Dir, "podd.id")); err != nil {
				t.Fatal(err)
			}
		}, store.ReasonUnreadable, "not a database of podd"},
	} {
		for _, unclean := range []bool{false, true} {
			if unclean && name == "never podd's" {
				continue // podd had it open.
			}
			t.Run(fmt.Sprintf("%s, unclean %v", name, unclean), func(t *testing.T) {
				c := config(t)
				k := open(t, c)
				fill(t, k, "p")
				if err := k.Snapshot(t.Context()); err != nil {
					t.Fatal(err)
				}
				if unclean {
					crash(t, k)
				} else {
					closeKeeper(t, k)
				}
				path := filepath.Join(c.Dir, "podd.db")
				tt.change(t, c, path)
				before := read(t, path)
				for range 2 {
					_, err := keeper.Open(t.Context(), c)
					if item.ReasonOf(err) != tt.reason || !strings.Contains(err.Error(), tt.says) {
						t.Errorf("error %v, want reason %s and %q", err, tt.reason, tt.says)
					}
				}
				if !bytes.Equal(read(t, path), before) || len(glob(t, c.Dir, "podd.db.damaged*")) > 0 {
					t.Error("the file was changed or moved")
				}
			})
		}
	}
}

// Open copies a database with an older schema before it migrates it, whatever the
// schedule; if it can't copy it, the database stays as it is.
func TestMigrationMakesASnapshot(t *testing.T) {
	c := config(t)
	c.Schedule.Keep = 0
	k := open(t, c)
	fill(t, k, "p")
	closeKeeper(t, k)
	path := filepath.Join(c.Dir, "podd.db")
	patch(t, path, "version\x00\x00\x00\x05", "version\x00\x00\x00\x01")
	old := read(t, path)
	blocked := filepath.Join(c.Dir, "snapshots")
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	write(t, blocked, nil)
	if _, err := keeper.Open(t.Context(), c); err == nil {
		t.Fatal("a database was migrated without a snapshot")
	}
	if !bytes.Equal(read(t, path), old) {
		t.Error("the file was changed")
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	k = open(t, c)
	wantPods(t, k, "p")
	closeKeeper(t, k)
	snapshots := glob(t, blocked, "*")
	if len(snapshots) != 1 || !strings.HasSuffix(snapshots[0], "-schema1.db") {
		t.Fatalf("snapshots are %q", snapshots)
	}
	write(t, path, read(t, snapshots[0]))
	k = open(t, c)
	wantPods(t, k, "p")
	closeKeeper(t, k)
}

// Snapshots follow the schedule, also over restarts: one is due when the last one is old
// enough. Surplus and old ones are removed, the newest never.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(t)
		names := func() (names []string) {
			for _, path := range glob(t, c.Dir, "snapshots", "*") {
				names = append(names, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "podd-20000101T"), "Z.db"))
			}
			return names
		}
		run := func(d time.Duration) {
			t.Helper()
			k := open(t, c)
			born(t, c)
			ctx, cancel := context.WithTimeout(t.Context(), d)
			k.Run(ctx)
			cancel()
			closeKeeper(t, k)
		}
		for _, want := range []string{"[]", "[010000]", "[010000]", "[010000 020000]", "[010000 020000]", "[020000 030000]"} {
			run(30*time.Minute + time.Second)
			if got := fmt.Sprint(names()); got != want {
				t.Errorf("at %s the snapshots are %s, want %s", time.Now().UTC().Format(time.TimeOnly), got, want)
			}
		}
		c.Schedule.Age = time.Minute
		run(time.Hour)
		if got := fmt.Sprint(names()); got != "[040000]" {
			t.Errorf("old snapshots: %s", got)
		}
		c.Schedule.Keep = 0
		run(10 * time.Hour)
		if got := fmt.Sprint(names()); got != "[040000]" {
			t.Errorf("without a schedule: %s", got)
		}
	})
}

// A snapshot is due by the clock of the day, also after the machine has slept, when timers stand still.
func TestScheduleOfAMachineThatSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(t)
		var slept atomic.Int64
		c.Now = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		k := open(t, c)
		defer closeKeeper(t, k)
		born(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { k.Run(ctx) })
		time.Sleep(15 * time.Minute)
		synctest.Wait()
		slept.Store(int64(40 * time.Minute))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if made := glob(t, c.Dir, "snapshots", "*"); len(made) != 1 {
			t.Errorf("snapshots are %q", made)
		}
		cancel()
		running.Wait()
	})
}

// A snapshot with a name from a clock ahead does not stop the schedule: the next one is
// made, the newest is the one made last, and surplus ones are removed.
func TestSnapshotFromAClockAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(t)
		ahead := c
		ahead.Now = func() time.Time { return time.Now().AddDate(10, 0, 0) }
		k := open(t, ahead)
		fill(t, k, "p")
		if err := k.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		closeKeeper(t, k)
		first := glob(t, c.Dir, "snapshots", "*")[0]
		k = open(t, c)
		fill(t, k, "q")
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 59*time.Minute)
			k.Run(ctx)
			cancel()
			time.Sleep(time.Minute)
		}
		closeKeeper(t, k)
		made := glob(t, c.Dir, "snapshots", "*")
		if len(made) != 2 || made[0] == first || made[1] == first {
			t.Errorf("after three hours the snapshots are %q, the first was %s", made, first)
		}
		path := filepath.Join(c.Dir, "podd.db")
		write(t, path, []byte("this is no database\n"))
		_, err := keeper.Open(t.Context(), c)
		_, newest, _ := strings.Cut(fmt.Sprint(err), "copy ")
		newest, _, _ = strings.Cut(newest, " to ")
		write(t, path, read(t, newest))
		k = open(t, c)
		wantPods(t, k, "p q")
		closeKeeper(t, k)
	})
}

// born makes a database as old as the faked time.
func born(t *testing.T, c keeper.Config) {
	t.Helper()
	if err := os.Chtimes(filepath.Join(c.Dir, "podd.id"), time.Now(), time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
}

// A snapshot that fails raises an alert, and is retried.
func TestFailedSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(t)
		k := open(t, c)
		defer closeKeeper(t, k)
		born(t, c)
		dir := filepath.Join(c.Dir, "snapshots")
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Minute)
		defer cancel()
		k.Run(ctx)
		alerts, err := k.Store().Alerts(t.Context(), store.AlertQuery{})
		if err != nil || len(alerts) != 1 || !strings.Contains(alerts[0].Text, "cannot make a snapshot of the store") {
			t.Errorf("alerts are %+v, %v", alerts, err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		again, stop := context.WithTimeout(t.Context(), 90*time.Minute)
		defer stop()
		k.Run(again)
		if len(glob(t, dir, "*")) == 0 {
			t.Error("no snapshot is made any more")
		}
	})
}

// A check of an open database reads a copy and leaves no file behind; a backup is a
// database.
func TestCheckAndBackup(t *testing.T) {
	c := config(t)
	k := open(t, c)
	fill(t, k, "p")
	if found, _, err := k.Check(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("a sound database: %q, %v", found, err)
	}
	var b bytes.Buffer
	if err := k.Backup(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	closeKeeper(t, k)
	damageRecord(t, c.Dir)
	k = open(t, c)
	if found, _, err := k.Check(t.Context()); err != nil || len(found) != 1 || !strings.Contains(found[0], "entry 1 of pod p is damaged") {
		t.Errorf("a damaged record: %q, %v", found, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := k.Check(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled check: %v", err)
	}
	if left := glob(t, c.Dir, "snapshots", "*"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	closeKeeper(t, k)
	if found, _, err := keeper.CheckFile(t.Context(), c); err != nil || len(found) != 1 {
		t.Errorf("a closed file: %q, %v", found, err)
	}
	write(t, filepath.Join(c.Dir, "podd.db"), b.Bytes())
	write(t, filepath.Join(c.Dir, "snapshots", "temp-left"), []byte("of a podd that was killed"))
	k = open(t, c)
	wantPods(t, k, "p")
	if found, _, err := k.Check(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("a backup: %q, %v", found, err)
	}
	closeKeeper(t, k)
	if left := glob(t, c.Dir, "snapshots", "*"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// Damage that a look at the last entries does not find shows at a write, which ends podd.
// The next start reads everything and moves the file aside, so that podd does not end the
// same way again.
func TestDamageMetByACommit(t *testing.T) {
	c := config(t)
	k := open(t, c)
	fill(t, k, "p")
	if err := k.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	closeKeeper(t, k)
	path := filepath.Join(c.Dir, "podd.db")
	content := read(t, path)
	freeAll(content)
	write(t, path, content)
	k = open(t, c)
	if err := k.Store().CreatePod(t.Context(), item.Pod{ID: "q", Name: "q"}); item.ReasonOf(err) != store.ReasonFailed {
		t.Fatalf("a commit on damaged pages: %v", err)
	}
	<-k.Store().Failed()
	closeKeeper(t, k)
	_, err := keeper.Open(t.Context(), c)
	if err == nil {
		t.Fatal("the damaged database was opened again")
	}
	wantAside(t, c, err, "contradict each other", content)
}

// freeAll marks each page in use as free.
func freeAll(db []byte) {
	const freelist, head = 0x10, 16
	page := os.Getpagesize()
	for at := 2 * page; at < len(db); at += page {
		if binary.NativeEndian.Uint16(db[at+8:]) != freelist {
			continue
		}
		n := 0
		for id := 2; id < len(db)/page; id++ {
			if id*page != at && head+8*(n+1) <= page {
				binary.NativeEndian.PutUint64(db[at+head+8*n:], uint64(id))
				n++
			}
		}
		binary.NativeEndian.PutUint16(db[at+10:], uint16(n))
	}
}

// The marker exists while the database is open.
func TestMarker(t *testing.T) {
	c := config(t)
	for range 2 {
		k := open(t, c)
		if len(glob(t, c.Dir, "podd.open")) != 1 {
			t.Error("an open database is not said to be open")
		}
		closeKeeper(t, k)
		if len(glob(t, c.Dir, "podd.open")) != 0 {
			t.Error("a database that was closed is said to be open")
		}
	}
}

// Shrink makes a database smaller whose file is mostly unused, and leaves one alone that is
// not, or of which there is too much to copy.
func TestShrink(t *testing.T) {
	t.Parallel()
	c := config(t)
	var log bytes.Buffer
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	path := filepath.Join(c.Dir, "podd.db")
	size := func() int { return len(read(t, path)) }
	k := open(t, c)
	fill(t, k, "kept")
	for _, text := range []string{strings.Repeat("x", 12<<20), strings.Repeat("y", 12<<20)} {
		id := text[:1]
		fill(t, k, id)
		epoch, err := k.Store().Claim(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Store().Append(t.Context(), store.Batch{Pod: id, Epoch: epoch, Entries: []item.Entry{{Kind: item.Note{Text: text}}}}); err != nil {
			t.Fatal(err)
		}
	}
	before := size()
	if k.Shrink(t.Context(), keeper.MostAtStart); size() != before || log.Len() > 0 {
		t.Errorf("%d bytes in use became %d, log %q", before, size(), log.String())
	}
	for _, id := range []string{"x", "y"} {
		if err := k.Store().DeletePod(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if k.Shrink(t.Context(), 0); size() != before || log.Len() > 0 {
		t.Errorf("%d bytes became %d, log %q", before, size(), log.String())
	}
	// Where no copy can be made, podd goes on with what there is.
	inTheWay := path + ".compact"
	if err := os.MkdirAll(filepath.Join(inTheWay, "file"), 0o700); err != nil {
		t.Fatal(err)
	}
	k.Shrink(t.Context(), keeper.MostAtRest)
	if size() != before || !strings.Contains(log.String(), "cannot return the store's unused space") {
		t.Errorf("%d bytes became %d, log %q", before, size(), log.String())
	}
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	if k.Shrink(t.Context(), keeper.MostAtRest); size() > 1<<20 || !strings.Contains(log.String(), "store compacted") {
		t.Errorf("%d bytes became %d, log %q", before, size(), log.String())
	}
	wantPods(t, k, "kept")
	closeKeeper(t, k)
	k = open(t, c)
	wantPods(t, k, "kept")
	closeKeeper(t, k)
}
