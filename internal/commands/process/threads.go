package process

import (
	"runtime"
	"sync"
	"time"
)

// KeepThreads makes threads ahead where a control group limits tasks, and commands have no group of their own:
// when commands have used the tasks up, Go ends a program that needs one more thread. Go keeps them for later.
func KeepThreads(group string) {
	most, crowded := Crowded()
	if group != "" || crowded {
		return
	}
	ahead := min(most/16, 16)
	var all, at sync.WaitGroup
	at.Add(ahead)
	for range ahead {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			at.Done()
			at.Wait()
			// Each needs a thread of its own until all have one.
			blockFor(10 * time.Millisecond)
		})
	}
	all.Wait()
}
