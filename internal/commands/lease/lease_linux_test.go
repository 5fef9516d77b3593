package lease_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/commands/lease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, path string) *lease.Lease {
	t.Helper()
	l, err := lease.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// reader is the lease as another process has it.
func reader(t *testing.T, path string) *lease.Lease {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := lease.Of(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func lasts(l *lease.Lease) bool { return l.Check() == nil }

// renew renews a lease until all see that it lasts: the machine may be slow.
func renew(t *testing.T, l *lease.Lease, all ...*lease.Lease) {
	t.Helper()
	for renewed := false; !renewed; {
		if err := l.Renewing()(); err != nil {
			t.Fatal(err)
		}
		renewed = lasts(l) && !slices.ContainsFunc(all, func(l *lease.Lease) bool { return !lasts(l) })
		if t.Context().Err() != nil {
			t.Fatal("the test ends")
		}
	}
}

// A reader sees what the writer has written, and so does the reader of a later writer.
func TestRenewal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.lease")
	l := open(t, path)
	r := reader(t, path)
	if lasts(l) || lasts(r) {
		t.Error("a new lease lasts before its first renewal")
	}
	renewed := l.Renewing()
	if lasts(r) {
		t.Error("it lasts before the renewal has succeeded")
	}
	if err := renewed(); err != nil {
		t.Error(err)
	}
	again := open(t, path)
	renew(t, l, r, again)
	if lasts(nil) {
		t.Error("no lease lasts")
	}
	renew(t, l)
	l.Close()
	if lasts(l) {
		t.Error("a closed lease lasts")
	}
}

// A wait ends with the lease, and not before renewals do.
func TestWait(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "podd.lease"))
	if _, err := l.Watch(); !errors.Is(err, lease.ErrOver) {
		t.Errorf("watch of a lease that is over: %v", err)
	}
	renew(t, l)
	ctx, release, err := l.Bind(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	if !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("a released context ended with %v", context.Cause(ctx))
	}
	if ctx, release, err = l.Bind(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer release()
	<-ctx.Done()
	if lasts(l) || !errors.Is(context.Cause(ctx), lease.ErrOver) {
		t.Errorf("the context ended while the lease lasts: %v", context.Cause(ctx))
	}
}

// What is not a deadline is one that is over.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"cut off":   func(path string) error { return os.Truncate(path, 0) },
		"half":      func(path string) error { return os.Truncate(path, 3) },
		"far ahead": func(path string) error { return rewrite(path, "\xff\xff\xff\xff\xff\xff\xff\x7f") },
		"negative":  func(path string) error { return rewrite(path, "\xff\xff\xff\xff\xff\xff\xff\xff") },
		"text":      func(path string) error { return rewrite(path, "garbage!") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "podd.lease")
			l := open(t, path)
			renew(t, l)
			r := reader(t, path)
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			if lasts(l) || lasts(r) {
				t.Error("it lasts")
			}
			if again := open(t, path); lasts(again) {
				t.Error("it lasts for the next start")
			}
			renew(t, l, r)
		})
	}
}

// rewrite keeps the file, as whoever has it mapped.
func rewrite(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(text)
	return err
}

// A file that is not podd's is replaced, and no reader accepts it.
func TestForeignFile(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"empty":     func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"longer":    func(path string) error { return os.WriteFile(path, []byte("something longer"), 0o600) },
		"link":      func(path string) error { return os.Symlink("/etc/hostname", path) },
		"not there": func(string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "podd.lease")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			if file, err := os.Open(path); err == nil {
				if _, err := lease.Of(file); err == nil {
					t.Error("a reader accepts it")
				}
			}
			l := open(t, path)
			renew(t, l, reader(t, path))
			if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
