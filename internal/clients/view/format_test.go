package view_test

import (
	"math"
	"testing"
	"time"

	"podd/internal/clients/view"
	"podd/pkg/item"
)

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -12: "-12",
		math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := view.Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 0: "0 ms", 999 * time.Microsecond: "0 ms", 3 * time.Millisecond: "3 ms",
		time.Second: "1.0 s", 59990 * time.Millisecond: "59.9 s", 61 * time.Second: "1m01s",
		3*time.Hour + 7*time.Minute: "3h07m", 98*time.Hour + 59*time.Minute: "4d02h",
	} {
		if got := view.Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	tests := []struct {
		usage item.Usage
		want  string
	}{
		{item.Usage{Input: 1234, CachedInput: 800, Output: 56}, "1,234 tokens in (800 cached), 56 out"},
		{item.Usage{Input: 5, Output: 1}, "5 tokens in, 1 out"},
	}
	for _, tt := range tests {
		if got := view.Tokens(tt.usage); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestLocalTimes(t *testing.T) {
	at := time.Date(2026, 11, 22, 18, 30, 0, 0, time.UTC)
	want := "waiting until " + at.Local().Format(time.DateTime) + ": quota; 2026-99-99 00:00:00Z"
	if got := view.LocalTimes("waiting until 2026-11-22 18:30:00Z: quota; 2026-99-99 00:00:00Z"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
