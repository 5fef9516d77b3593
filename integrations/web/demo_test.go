//go:build integrations

package web

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"podd/integrations/rig"
)

// TestDemo opens the address that podd demo --web prints, compares its views with the pictures of testdata/golden, and ends it
// as Ctrl-C does. With PODD_GOLDEN it makes the pictures.
func TestDemo(t *testing.T) {
	w := rig.Prepare(t, model)
	tmp := filepath.Join(w.Dir, "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	var said rig.Buffer
	demo := w.Command("podd", "demo", "--web")
	demo.Env = append(demo.Env, "TMPDIR="+tmp)
	demo.Stderr, demo.Stdout = &said, io.Discard
	demo.Cancel = func() error { return demo.Process.Signal(syscall.SIGINT) }
	demo.WaitDelay = 30 * time.Second
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- demo.Wait() }()
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/#pair=[A-Z]{10}`)
	rig.Await(t, "the address of the demo", func() bool { return address.MatchString(said.String()) })
	runs(t, w, "demo.test.mjs", "PAGE="+address.FindString(said.String()))
	_ = demo.Process.Signal(syscall.SIGINT)
	if err := <-ended; err != nil {
		t.Errorf("the demo ended with %v:\n%s", err, said.String())
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
