package mcp

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A server's time begins again with its progress, and stands still while a person thinks.
func TestAllowance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late atomic.Bool
		a := allow(time.Minute, func() { late.Store(true) })
		pass := func(d time.Duration, want bool) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if late.Load() != want {
				t.Errorf("late: %t", !want)
			}
		}
		pass(59*time.Second, false)
		a.waits(true)
		pass(time.Hour, false)
		a.waits(true)
		a.waits(false)
		pass(time.Hour, false)
		if !a.again() {
			t.Error("the time has run out while a person thought")
		}
		pass(time.Hour, false)
		a.waits(false)
		pass(59*time.Second, false)
		if !a.again() {
			t.Error("the time has run out early")
		}
		pass(59*time.Second, false)
		pass(time.Second, true)
		if a.again() {
			t.Error("the time has begun again after it ran out")
		}
		a.stop()
	})
}
