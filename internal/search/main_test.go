package search_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mkdir() (string, error) { return os.MkdirTemp("", "search") }

func rmdir(dir string) { _ = os.RemoveAll(dir) }
