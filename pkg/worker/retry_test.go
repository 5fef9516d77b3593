package worker

import (
	"testing"
	"time"

	"podd/pkg/llm"
)

// The next wait after earlier failures of the same kind.
func TestRetryWait(t *testing.T) {
	r := Retry{Attempts: 4, Base: time.Second, Max: 3 * time.Second}.withDefaults()
	tests := []struct {
		name     string
		err      llm.Error
		failed   int
		min, max time.Duration
		ok       bool
	}{
		{name: "first", err: llm.Error{Class: llm.ClassCut}, min: time.Second / 2, max: time.Second, ok: true},
		{name: "doubles", err: llm.Error{Class: llm.ClassCut}, failed: 1, min: time.Second, max: 2 * time.Second, ok: true},
		{name: "is capped", err: llm.Error{Class: llm.ClassOverloaded}, failed: 2, min: 1500 * time.Millisecond, max: 3 * time.Second, ok: true},
		{name: "ends", err: llm.Error{Class: llm.ClassCut}, failed: 3},
		{name: "does not end where nothing was sent", err: llm.Error{Class: llm.ClassNetwork}, failed: 999, min: 1500 * time.Millisecond, max: 3 * time.Second, ok: true},
		{name: "waits in full for what is asked", err: llm.Error{Class: llm.ClassRateLimit, RetryAfter: time.Hour}, min: time.Hour, max: time.Hour, ok: true},
		{name: "does so again", err: llm.Error{Class: llm.ClassRateLimit, RetryAfter: time.Hour}, failed: 23, min: time.Hour, max: time.Hour, ok: true},
		{name: "but not for more than a day", err: llm.Error{Class: llm.ClassRateLimit, RetryAfter: time.Hour}, failed: 24},
		{name: "is no shorter than its own waits", err: llm.Error{Class: llm.ClassRateLimit, RetryAfter: time.Millisecond}, failed: 1, min: time.Second, max: 2 * time.Second, ok: true},
		{name: "ends where the asked wait is shorter", err: llm.Error{Class: llm.ClassRateLimit, RetryAfter: time.Millisecond}, failed: 3},
		{name: "ends where its own waits have overtaken the asked one", err: llm.Error{Class: llm.ClassRateLimit, RetryAfter: 2500 * time.Millisecond}, failed: 5},
		{name: "not for a wrong key", err: llm.Error{Class: llm.ClassAuth}},
		{name: "not for a used-up quota", err: llm.Error{Class: llm.ClassQuota, RetryAfter: time.Second}},
		{name: "not for a full window", err: llm.Error{Class: llm.ClassContext}},
		{name: "not where the endpoint asks not to", err: llm.Error{Class: llm.ClassOverloaded, Final: true}},
		{name: "a refused call", err: llm.Error{Class: llm.ClassMalformedCall}, min: time.Second / 2, max: time.Second, ok: true},
		{name: "a refused call ends sooner", err: llm.Error{Class: llm.ClassMalformedCall}, failed: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 50 {
				tries := new(tries)
				for range tt.failed {
					if _, ok := r.wait(&tt.err, tries); !ok {
						t.Fatal("ended before")
					}
				}
				d, ok := r.wait(&tt.err, tries)
				if ok != tt.ok || ok && (d < tt.min || d > tt.max) {
					t.Fatalf("wait %s, %v; want %s to %s, %v", d, ok, tt.min, tt.max, tt.ok)
				}
			}
		})
	}
}

// After a long loss of the network a request has all its attempts left.
func TestAttemptsAfterTheNetworkCameBack(t *testing.T) {
	r, tries := Retry{Attempts: 3}.withDefaults(), new(tries)
	for range 100 {
		if _, ok := r.wait(&llm.Error{Class: llm.ClassNetwork}, tries); !ok {
			t.Fatal("a network that is away ends the request")
		}
	}
	for i, want := range []bool{true, true, false} {
		if _, ok := r.wait(&llm.Error{Class: llm.ClassCut}, tries); ok != want {
			t.Errorf("failure %d: %v", i+1, ok)
		}
	}
}
