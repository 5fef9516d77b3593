package keeper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"podd/internal/paths"
	"podd/pkg/item"
	"podd/pkg/store"
)

// quickTime bounds the check at start, which may never end on a damaged file.
const quickTime = 2 * time.Minute

// check checks a file in a separate process.
func (c Config) check(ctx context.Context, path string, quick bool) ([]store.Finding, error) {
	if len(c.Checker) == 0 {
		return store.CheckFile(ctx, path, quick)
	}
	args := c.Checker[1:len(c.Checker):len(c.Checker)]
	running := ctx
	if quick {
		args = append(args, "--quick")
		limited, cancel := context.WithTimeout(ctx, quickTime)
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
	var found []store.Finding
	if runErr == nil {
		runErr = json.Unmarshal(out.Bytes(), &found)
	}
	if runErr == nil {
		return found, nil
	}
	if _, ok := errors.AsType[*exec.ExitError](runErr); !ok {
		return nil, item.Errorf(item.KindInternal, "INTERNAL", "cannot check %s: %v", path, runErr)
	}
	c.Logger.Debug("check did not survive", "path", path, "error", runErr, "stderr", errs.String())
	return []store.Finding{{Fatal: true, Text: fmt.Sprintf("the check of %s crashed (%v): its pages are damaged", path, runErr)}}, nil
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
