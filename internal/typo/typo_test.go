package typo_test

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/typo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNear(t *testing.T) {
	words := []string{"gpt-5.1", "gpt-5.1-mini", "gpt-5.2", "o3"}
	if got := typo.Near("gtp-5.1", words, 2); !slices.Equal(got, []string{"gpt-5.1", "gpt-5.2"}) {
		t.Error(got)
	}
	if got := typo.Nearest("max_setps", []string{"max_steps", "max_time"}); got != "max_steps" {
		t.Error(got)
	}
	if got := typo.Nearest("o3", []string{"gpt"}); got != "" {
		t.Error(got)
	}
}
