package worker

import (
	"testing"
	"time"

	"podd/pkg/llm"
)

func TestRetryWait(t *testing.T) {
	r := Retry{Attempts: 4, Base: time.Second, Max: 3 * time.Second}.withDefaults()
	tests := []struct {
		name     string
		err      llm.Error
		attempt  int
		min, max time.Duration
		ok       bool
	}{
		{name: "first", err: llm.Error{Class: llm.ClassCut}, attempt: 1, min: time.Second / 2, max: time.Second, ok: true},
		{name: "doubles", err: llm.Error{Class: llm.ClassNetwork}, attempt: 2, min: time.Second, max: 2 * time.Second, ok: true},
		{name: "is capped", err: llm.Error{Class: llm.ClassOverloaded}, attempt: 3, min: 1500 * time.Millisecond, max: 3 * time.Second, ok: true},
		{name: "ends", err: llm.Error{Class: llm.ClassCut}, attempt: 4},
		{name: "honours Retry-After in full", err: llm.Error{Class: llm.ClassRateLimit, RetryAfter: time.Hour}, attempt: 1, min: time.Hour, max: time.Hour, ok: true},
		{name: "not for a wrong key", err: llm.Error{Class: llm.ClassAuth}, attempt: 1},
		{name: "not for a used-up quota", err: llm.Error{Class: llm.ClassQuota, RetryAfter: time.Second}, attempt: 1},
		{name: "not for a full window", err: llm.Error{Class: llm.ClassContext}, attempt: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 50 {
				d, ok := r.wait(&tt.err, tt.attempt)
				if ok != tt.ok || d < tt.min || d > tt.max {
					t.Fatalf("wait %s, %v; want %s to %s, %v", d, ok, tt.min, tt.max, tt.ok)
				}
			}
		})
	}
	if d, ok := (Retry{Attempts: 100, Base: time.Second, Max: time.Minute}).wait(&llm.Error{Class: llm.ClassCut}, 99); !ok || d > time.Minute {
		t.Errorf("a late attempt waits %s, %v", d, ok)
	}
}
