// Package logs holds what tests leave behind to the invariants of docs/spec.md.
package logs

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"podd/internal/spec"
	"podd/pkg/store"
)

// Check checks the logs in all stores below a directory, which must be closed. It returns a sentence for each finding.
// A store that cannot be opened is not checked: some tests damage theirs.
func Check(ctx context.Context, dir string) (found []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "podd.db" {
			return nil //nolint:nilerr // What cannot be read has no store.
		}
		for _, text := range checkStore(ctx, path) {
			found = append(found, fmt.Sprintf("%s: %s", path, text))
		}
		return nil
	})
	return found
}

func checkStore(ctx context.Context, path string) []string {
	s, err := store.OpenBolt(store.BoltConfig{Path: path})
	if err != nil {
		return nil
	}
	defer func() { _ = s.Close() }()
	found, _ := spec.Pods(ctx, s) // What of a damaged store can be read.
	return found
}

// AtEnd checks the logs below a directory when a test has ended all that uses it: call it before the test starts anything
// there.
func AtEnd(t testing.TB, dir string) {
	t.Helper()
	t.Cleanup(func() {
		for _, text := range Check(context.WithoutCancel(t.Context()), dir) {
			t.Error(text)
		}
	})
}
