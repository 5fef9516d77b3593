package llm_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"go.uber.org/goleak"

	"podd/pkg/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRetryable(t *testing.T) {
	for class, want := range map[llm.Class]bool{
		llm.ClassNetwork: true, llm.ClassCut: true, llm.ClassRateLimit: true, llm.ClassOverloaded: true, llm.ClassMalformedCall: true, llm.ClassContentFilter: false,
		llm.ClassQuota: false, llm.ClassAuth: false, llm.ClassNoKey: false, llm.ClassNoModel: false,
		llm.ClassUnknownModel: false, llm.ClassContext: false, llm.ClassNoImages: false, llm.ClassInvalid: false, llm.ClassProtocol: false,
	} {
		if got := (&llm.Error{Class: class}).Retryable(); got != want {
			t.Errorf("%s: %v", class, got)
		}
		if (&llm.Error{Class: class, Final: true}).Retryable() {
			t.Errorf("%s is retryable although the endpoint asks not to try again", class)
		}
	}
}

func TestErrorsAreFound(t *testing.T) {
	err := fmt.Errorf("step 3: %w", &llm.Error{Class: llm.ClassCut, Message: "the answer stopped", Cause: io.ErrUnexpectedEOF})
	if llm.ClassOf(err) != llm.ClassCut || !errors.Is(err, io.ErrUnexpectedEOF) || err.Error() != "step 3: the answer stopped" {
		t.Errorf("%v, %q", err, llm.ClassOf(err))
	}
	if got := llm.ClassOf(io.EOF); got != "" {
		t.Errorf("another error has class %q", got)
	}
}
