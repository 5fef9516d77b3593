//go:build amd64 || arm64

package filelimit_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"podd/internal/commands/filelimit"
)

// The limit is that of the parent, not what Go made of it.
func TestAtStart(t *testing.T) {
	if os.Getenv("PRINT") != "" {
		os.Stdout.WriteString(strconv.FormatUint(filelimit.AtStart()[0], 10))
		os.Exit(0)
	}
	cmd := exec.Command("sh", "-c", `ulimit -Sn 123; exec "$0" -test.run=TestAtStart`, os.Args[0])
	cmd.Env = append(os.Environ(), "PRINT=1")
	out, err := cmd.Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != "123" {
		t.Errorf("%q, %v", got, err)
	}
}
