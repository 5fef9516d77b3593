package spool_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/pkg/tool/spool"
)

func createJob(t *testing.T, f *spool.Folder, id string) *spool.Job {
	t.Helper()
	j, err := f.CreateJob("shell", id, note{})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func openJob(t *testing.T, f *spool.Folder, id string) *spool.Job {
	t.Helper()
	j, err := f.OpenJob("shell", id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// files is the number of files in a folder.
func files(t *testing.T, f *spool.Folder) int {
	t.Helper()
	entries, err := os.ReadDir(f.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

type note struct {
	A, B int
}

func TestJobIsFoundAgain(t *testing.T) {
	f := folder(t, open(t, spool.Config{Dir: t.TempDir()}), "p")
	for _, id := range []string{"call_1", "../../x", "", "a\nb"} {
		j := createJob(t, f, id)
		if _, err := f.CreateJob("shell", id, note{}); err == nil {
			t.Errorf("%q: a job was made twice", id)
		}
		if err := errors.Join(j.Record.Note(map[string]int{"A": 1, "B": 1}), j.Record.Note(map[string]int{"B": 2})); err != nil {
			t.Fatal(err)
		}
		if _, err := j.Output.WriteString("text"); err != nil {
			t.Fatal(err)
		}
		j.Close()

		j = openJob(t, f, id)
		var n note
		if err := j.Record.Notes(&n); err != nil || n != (note{1, 2}) || j.Record.Status() != "" {
			t.Errorf("%q: notes %+v, %v, status %q", id, n, err, j.Record.Status())
		}
		if text, err := os.ReadFile(j.Output.Name()); err != nil || string(text) != "text" || filepath.Dir(j.Output.Name()) != f.Dir() {
			t.Errorf("%q: output %q in %s, %v", id, text, j.Output.Name(), err)
		}
		j.Settle(false)
		if _, err := f.OpenJob("shell", id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: of a settled job: %v", id, err)
		}
	}
	if n := files(t, f); n != 0 {
		t.Errorf("%d files remain", n)
	}
}

// A buried record can be read as long as an output is kept.
func TestBuriedRecord(t *testing.T) {
	now := time.Now()
	c := spool.Config{Dir: t.TempDir(), Now: func() time.Time { return now }}
	s := open(t, c)
	f := folder(t, s, "p")
	j := createJob(t, f, "c")
	if err := j.Record.Note(note{1, 2}); err != nil {
		t.Fatal(err)
	}
	check := func(f *spool.Folder, want error) {
		t.Helper()
		var n note
		if err := f.Notes("shell", "c", &n); !errors.Is(err, want) || err == nil && n != (note{1, 2}) {
			t.Errorf("notes %+v, %v", n, err)
		}
	}
	check(f, nil)
	j.Bury(false)
	if _, err := f.OpenJob("shell", "c"); !errors.Is(err, fs.ErrNotExist) || files(t, f) != 1 || s.Bytes() == 0 {
		t.Errorf("it can be opened: %v; %d files, %d bytes", err, files(t, f), s.Bytes())
	}
	check(f, nil)
	check(folder(t, open(t, c), "p"), nil)
	now = now.Add(spool.DefaultMaxAge + time.Hour)
	check(folder(t, s, "p"), fs.ErrNotExist)
}

func TestJobStatus(t *testing.T) {
	f := folder(t, open(t, spool.Config{Dir: t.TempDir()}), "p")
	for _, c := range []struct{ slot, want string }{
		{"", ""},
		{"0.", "0"},
		{"139.", "139"},
		{"13", ""},
	} {
		j := createJob(t, f, c.slot)
		if err := j.Record.Note(note{1, 2}); err != nil {
			t.Fatal(err)
		}
		if _, err := j.Record.File().WriteAt([]byte(c.slot), 0); err != nil {
			t.Fatal(err)
		}
		var n note
		if err := j.Record.Notes(&n); err != nil || n != (note{1, 2}) || j.Record.Status() != c.want {
			t.Errorf("%q: status %q, notes %+v, %v", c.slot, j.Record.Status(), n, err)
		}
		if err := j.Record.SetStatus("255"); err != nil || j.Record.Status() != "255" {
			t.Errorf("status %q, %v", j.Record.Status(), err)
		}
		j.Settle(false)
	}
}

// A record is locked while any process has the file of the locking one, and only then.
func TestRecordIsHeld(t *testing.T) {
	f := folder(t, open(t, spool.Config{Dir: t.TempDir()}), "p")
	j := createJob(t, f, "c")
	other := openJob(t, f, "c")
	defer other.Settle(false)
	if !other.Record.Held() {
		t.Error("a new record is not locked")
	}
	hold := exec.Command("sh", "-c", "read -r line")
	hold.ExtraFiles = []*os.File{j.Record.File()}
	stdin, err := hold.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := hold.Start(); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if !other.Record.Held() {
		t.Error("a process that has the record's file does not hold it")
	}
	_ = stdin.Close()
	_ = hold.Wait()
	for range 2 { // Held does not lock.
		if other.Record.Held() {
			t.Error("a record is locked although no process has it open")
		}
	}
}

// A record has its full length from the start: notes and status overwrite it.
func TestRecordDoesNotGrow(t *testing.T) {
	f := folder(t, open(t, spool.Config{Dir: t.TempDir()}), "p")
	j := createJob(t, f, "c")
	defer j.Settle(false)
	size := func() int64 {
		info, err := j.Record.File().Stat()
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	for range 10 {
		if err := errors.Join(j.Record.Note(note{1, 2}), j.Record.SetStatus("0")); err != nil {
			t.Fatal(err)
		}
	}
	if size() != before {
		t.Errorf("%d bytes, were %d", size(), before)
	}
	if err := j.Record.Note(strings.Repeat("x", 600)); err != nil || size() <= before {
		t.Errorf("a long note: %v, %d bytes", err, size())
	}
}

func TestJobNotesThatAreDamaged(t *testing.T) {
	f := folder(t, open(t, spool.Config{Dir: t.TempDir()}), "p")
	j := createJob(t, f, "c")
	defer j.Settle(false)
	record, err := filepath.Glob(filepath.Join(f.Dir(), ".*"))
	if err != nil || len(record) != 1 {
		t.Fatal(record, err)
	}
	slot := "               \n"
	for _, c := range []struct {
		text string
		want note
		ok   bool
	}{
		{slot, note{}, true},
		{slot + `{"A":1}` + "\n" + `{"A":2`, note{A: 1}, true},
		{slot + `{"A":1` + "\n" + `{"A":2}` + "\n", note{}, false},
		{slot[:5], note{}, false},
		{"", note{}, false},
	} {
		if err := os.WriteFile(record[0], []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var n note
		if err := j.Record.Notes(&n); n != c.want || (err == nil) != c.ok {
			t.Errorf("%q: %+v, %v", c.text, n, err)
		}
	}
}

// Until a job is settled, nothing else removes its files, also over restarts, unless the
// job is older than any output may be.
func TestJobsAreLeftAlone(t *testing.T) {
	dir, now := t.TempDir(), newClock()
	s := open(t, spool.Config{Dir: dir, MaxBytes: 10, Now: now.Now})
	f := folder(t, s, "p")
	j := createJob(t, f, "c")
	if _, err := j.Output.WriteString("more than ten bytes"); err != nil {
		t.Fatal(err)
	}
	j.Close()

	s = open(t, spool.Config{Dir: dir, MaxBytes: 10, Now: now.Now})
	f = folder(t, s, "p")
	keep(t, f, "x", "1234567890")
	if s.Bytes() != 10 || files(t, f) != 3 {
		t.Errorf("%d bytes count, %d files", s.Bytes(), files(t, f))
	}
	openJob(t, f, "c").Settle(true)
	if s.Bytes() != 19 || files(t, f) != 1 {
		t.Errorf("once settled: %d bytes count, %d files", s.Bytes(), files(t, f))
	}

	createJob(t, f, "d").Close()
	now.now = now.now.Add(spool.DefaultMaxAge + time.Hour)
	s = open(t, spool.Config{Dir: dir, Now: now.Now})
	if f = folder(t, s, "p"); files(t, f) != 0 {
		t.Errorf("%d old files remain", files(t, f))
	}
}
