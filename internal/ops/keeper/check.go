package keeper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"podd/pkg/item"
	"podd/pkg/paths"
	"podd/pkg/store"
)

// The time of a check at start, which may never end on a damaged file: some minutes, and what a slow disk takes
// to read the file, in bytes a second.
const (
	quickTime = 2 * time.Minute
	slowDisk  = 4 << 20
)

// report is what a checker prints.
type report struct {
	Found []store.Finding `json:"found"`
	// Cannot is why the file could not be checked.
	Cannot *item.Error `json:"cannot,omitempty"`
}

// PrintCheck is the checker of a Config: it checks a file in this process and prints a report.
func PrintCheck(ctx context.Context, w io.Writer, path string, quick bool) error {
	found, err := store.CheckFile(ctx, path, quick)
	r := report{Found: found}
	if err != nil {
		var ok bool
		if r.Cannot, ok = errors.AsType[*item.Error](err); !ok {
			return err
		}
		r.Cannot.Cause = nil // It does not survive JSON.
	}
	return json.NewEncoder(w).Encode(r)
}

// PrintTooLarge prints the report on a file whose check used more memory than any sound file of its size needs.
func PrintTooLarge(w io.Writer, path string) error {
	text := fmt.Sprintf("the check of %s needs more memory than its size allows: its pages contradict each other", path)
	return json.NewEncoder(w).Encode(report{Found: []store.Finding{{Fatal: true, Text: text}}})
}

// check checks a file in a separate process. The error says why the file could not be checked, which does not
// mean that it is damaged: the process was killed, did not get what it needs, or the disk did not answer.
func (c Config) check(ctx context.Context, path string, quick bool) ([]store.Finding, error) {
	if len(c.Checker) == 0 {
		return store.CheckFile(ctx, path, quick)
	}
	args := c.Checker[1:len(c.Checker):len(c.Checker)]
	running := ctx
	if quick {
		args = append(args, "--quick")
		limited, cancel := context.WithTimeout(ctx, quickTime+time.Duration(fileSize(path)/slowDisk)*time.Second)
		defer cancel()
		running = limited
	}
	cmd := exec.CommandContext(running, c.Checker[0], append(args, path)...)
	// It needs nothing from podd's environment, which may contain keys.
	cmd.Env = []string{"GOTRACEBACK=none"}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	runErr := cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var r report
	if runErr == nil {
		runErr = json.Unmarshal(out.Bytes(), &r)
	}
	switch {
	case runErr == nil && r.Cannot != nil:
		return nil, r.Cannot
	case runErr == nil:
		return r.Found, nil
	case running.Err() != nil:
		runErr = errors.New("it took too long")
	case crashed(runErr, errs.String()):
		if err := store.Readable(path); err != nil {
			return nil, err
		}
		c.Logger.Debug("check did not survive", "path", path, "error", runErr, "stderr", errs.String())
		return []store.Finding{{Fatal: true, Text: fmt.Sprintf("the check of %s crashed (%v): its pages are damaged", path, runErr)}}, nil
	}
	said, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n\n")
	c.Logger.Warn("the check of the database was not completed", "path", path, "error", runErr, "stderr", said)
	e := item.Errorf(item.KindPrecondition, ReasonNotChecked,
		"%s could not be checked (%v), and stays as it is: try again, and look at memory, disk and podd's log if this repeats", path, runErr)
	e.Cause = runErr
	return nil, e
}

// ReasonNotChecked says that podd could not find out whether the database is damaged.
const ReasonNotChecked = "STORE_NOT_CHECKED"

// crashes are how Go reports what only damaged pages do to a check: it accesses memory where nothing is,
// follows pages in a circle, or finds values that cannot be.
var crashes = []string{"unexpected fault address", "SIGSEGV: ", "SIGBUS: ", "stack overflow", "panic: "}

// crashed says whether the content of the file ended a check, by its error and what it wrote.
func crashed(err error, stderr string) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal() == syscall.SIGSEGV || status.Signal() == syscall.SIGBUS
	}
	return slices.ContainsFunc(crashes, func(text string) bool { return strings.Contains(stderr, text) })
}

// Check looks for damage in a copy of the open database and returns one sentence per
// finding, with harmless findings in a list of their own.
func (k *Keeper) Check(ctx context.Context) (harm, harmless []string, err error) {
	var found []store.Finding
	err = k.cfg.withCopy(k.copies(ctx), func(path string) (err error) {
		found, err = k.cfg.check(ctx, path, false)
		return err
	})
	harm, harmless = sentences(found)
	return harm, harmless, err
}

// CheckFile looks for damage in a database that is not open.
func CheckFile(ctx context.Context, c Config) (harm, harmless []string, err error) {
	found, err := c.check(ctx, c.database(), false)
	harm, harmless = sentences(found)
	return harm, harmless, err
}

func sentences(found []store.Finding) (harm, harmless []string) {
	for _, f := range found {
		if f.Harmless {
			harmless = append(harmless, f.Text)
		} else {
			harm = append(harm, f.Text)
		}
	}
	return harm, harmless
}

// tempCopy is the name of a temporary copy.
const tempCopy = "temp-"

// copies makes a copy of the database.
func (k *Keeper) copies(ctx context.Context) func(path string) error {
	return func(path string) error { return k.store.CopyTo(ctx, path) }
}

// withCopy calls fn with a copy of the database and removes the copy.
func (c Config) withCopy(copyTo, fn func(path string) error) error {
	if err := paths.EnsurePrivateDir(c.snapshots()); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.snapshots(), tempCopy+"*")
	if err != nil {
		return stateError(c.snapshots(), err)
	}
	path := f.Name()
	defer func() { _ = os.Remove(path) }()
	if err := f.Close(); err != nil {
		return stateError(path, err)
	}
	if err := copyTo(path); err != nil {
		return err
	}
	return fn(path)
}

// removeTemps removes copies that a killed podd left behind.
func (c Config) removeTemps() {
	for _, pattern := range []string{tempCopy + "*", "*.new"} {
		left, _ := filepath.Glob(filepath.Join(c.snapshots(), pattern))
		for _, path := range left {
			_ = os.Remove(path)
		}
	}
}
