package main

import (
	"os"
	"slices"
	"syscall"
	"testing"
)

// SIGUSR1 alone is a restart, however often it comes. A stop wins over it, also when the drain was cut short already, and
// no signal kills podd before a stop was heard.
func TestAStopWinsOverARestart(t *testing.T) {
	type signals = []os.Signal
	for _, tt := range []struct {
		sent                     signals
		restarts, hurries, kills bool
	}{
		{signals{syscall.SIGTERM}, false, false, false},
		{signals{syscall.SIGTERM, syscall.SIGTERM}, false, true, true},
		{signals{syscall.SIGUSR1}, true, false, false},
		{signals{syscall.SIGUSR1, syscall.SIGUSR1}, true, true, false},
		{signals{syscall.SIGUSR1, syscall.SIGTERM}, false, true, true},
		{signals{syscall.SIGTERM, syscall.SIGUSR1}, false, true, true},
		{signals{syscall.SIGUSR1, syscall.SIGUSR1, os.Interrupt}, false, true, true},
	} {
		begun := 0
		e := ending{begin: func() { begun++ }, hurry: make(chan struct{})}
		var deadly []os.Signal
		for _, s := range tt.sent {
			deadly = e.hear(s)
		}
		hurries := false
		select {
		case <-e.hurry:
			hurries = true
		default:
		}
		if e.restarts.Load() != tt.restarts || hurries != tt.hurries || slices.Contains(deadly, os.Signal(syscall.SIGTERM)) != tt.kills || begun != 1 {
			t.Errorf("%v: restarts %v, hurries %v, deadly %v, begun %d times", tt.sent, e.restarts.Load(), hurries, deadly, begun)
		}
	}
}
