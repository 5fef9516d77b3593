package interceptortest_test

import (
	"testing"

	"go.uber.org/goleak"

	"podd/pkg/interceptor"
	"podd/pkg/interceptor/interceptortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFileRefs(t *testing.T) {
	interceptortest.Conform(t, interceptor.FileRefs{}, interceptortest.Events{})
}
