package mcp_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes a server, or a podd, of the test binary when it is started as one.
func TestMain(m *testing.M) {
	if mode := os.Getenv("MCP_TEST_SERVER"); mode != "" {
		serve(mode)
		return
	}
	if dir := os.Getenv("MCP_TEST_PODD"); dir != "" {
		killed(dir)
		return
	}
	goleak.VerifyTestMain(m)
}
