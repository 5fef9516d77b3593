package paths

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A directory that others make and remove meanwhile is made all the same.
func TestPrivateDirThatComesAndGoes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	stop := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Mkdir(dir, 0o700)
				_ = os.Remove(dir)
			}
		}
	})
	for range 2000 {
		if _, err := made(dir); err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	others.Wait()
}
