package extern_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(askerVariable) != "" {
		askerMain()
	}
	goleak.VerifyTestMain(m)
}
