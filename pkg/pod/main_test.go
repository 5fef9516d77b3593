package pod_test

import (
	"testing"

	"go.uber.org/goleak"

	"podd/pkg/pod"
)

// All tests run with early bases, and each house compares its pod with the fold of its
// whole log.
func TestMain(m *testing.M) {
	pod.MakeBasesAfter(8)
	goleak.VerifyTestMain(m)
}
