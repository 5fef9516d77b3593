package pod_test

import (
	"testing"

	"go.uber.org/goleak"

	"podd/pkg/pod"
)

// All tests run with bases that are made early, and each house holds its pod to what its
// whole log folds into.
func TestMain(m *testing.M) {
	pod.MakeBasesAfter(8)
	goleak.VerifyTestMain(m)
}
