package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"podd/internal/files"
)

// Several pods of a directory may begin and end turns at any time.
func TestManyUsers(t *testing.T) {
	d := open(t)
	d.write("a", "0")
	d.must(d.w.Rest())
	var users sync.WaitGroup
	for pod := range 4 {
		users.Go(func() {
			after := ""
			for i := range 40 {
				err := os.WriteFile(d.path(fmt.Sprint("of", pod)), fmt.Append(nil, i), 0o600)
				w := d.stores.Of(d.dir)
				taken, takeErr := w.Take(t.Context(), files.Look{After: after, Agent: true, Branch: fmt.Sprint("pod", pod)})
				for _, k := range taken {
					after = k.Commit
				}
				if err := errors.Join(err, takeErr, w.Rest()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	users.Wait()
	heads, err := filepath.Glob(filepath.Join(d.repo(), "refs/heads/*"))
	if err != nil || len(heads) != 4 {
		t.Errorf("branches %q, %v", heads, err)
	}
}
