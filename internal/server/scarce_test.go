package server_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"podd/internal/server"
	"podd/pkg/item"
)

// What the system ran out of is said, wherever it is met.
func TestScarce(t *testing.T) {
	at := func(errno syscall.Errno) error {
		return fmt.Errorf("no folder: %w", &fs.PathError{Op: "mkdir", Path: "/spool/p", Err: errno})
	}
	caused := func(kind item.ErrorKind, reason string, errno syscall.Errno) error {
		e := item.Errorf(kind, reason, "it failed")
		e.Cause = at(errno)
		return e
	}
	for _, c := range []struct {
		err          error
		reason, says string
	}{
		{at(syscall.ENOSPC), "NO_SPACE", "/spool/p: no space left on device: free"},
		{at(syscall.EDQUOT), "NO_SPACE", "quota exceeded: free"},
		{caused(item.KindPrecondition, "X", syscall.ENOSPC), "NO_SPACE", "it failed"},
		{at(syscall.EMFILE), "TOO_MANY_FILES", "try again"},
		{caused(item.KindInvalid, "BAD_DIR", syscall.EMFILE), "TOO_MANY_FILES", "try again"},
		{caused(item.KindExhausted, "NO_SPACE", syscall.ENOSPC), "", ""},
		{at(syscall.EACCES), "", ""},
		{errors.New("a defect"), "", ""},
	} {
		got, alert := server.Scarce(c.err)
		if c.reason == "" {
			if got != nil {
				t.Errorf("%v: %v", c.err, got)
			}
			continue
		}
		if got == nil || got.Kind != item.KindExhausted || got.Reason != c.reason || !strings.Contains(got.Message, c.says) || alert == "" {
			t.Errorf("%v: %+v, alert %q", c.err, got, alert)
		}
	}
}
