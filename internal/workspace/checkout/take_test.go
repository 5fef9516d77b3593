package checkout

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

// A podd that is killed at any moment leaves a lock with its text, or none.
func TestLockIsNeverWithoutItsText(t *testing.T) {
	own := &tree{own: t.TempDir(), l: Landing{Lock: newLock()}}
	stop, watched := make(chan struct{}), make(chan int)
	go func() {
		seen := 0
		defer func() { watched <- seen }()
		for {
			select {
			case <-stop:
				return
			default:
			}
			if info, err := os.Lstat(own.lock()); err == nil && info.Size() == 0 {
				seen++
			}
		}
	}()
	for range 5000 {
		if err := own.take(); err != nil {
			t.Fatal(err)
		}
		if err := own.take(); !errors.Is(err, fs.ErrExist) || !own.isOurs() {
			t.Fatalf("a lock that is taken: %v", err)
		}
		if err := os.Remove(own.lock()); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if seen := <-watched; seen > 0 {
		t.Errorf("the lock had no text %d times", seen)
	}
	if left, err := os.ReadDir(own.own); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
