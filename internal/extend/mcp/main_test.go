package mcp_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes a server of the test binary when it is started as one.
func TestMain(m *testing.M) {
	if mode := os.Getenv("MCP_TEST_SERVER"); mode != "" {
		serve(mode)
		return
	}
	goleak.VerifyTestMain(m)
}
