package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// list -w shows the pods, and then a line for each change, over a restart too.
func TestListWatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	w.podctl("create", "api").run(0)
	w.podctl("create", "web").run(0)
	text, objects := w.podctl("list", "-w").start(), w.podctl("list", "-w", "-o", "json").start()
	text.out.await(t, "web")
	objects.out.await(t, `"name":"web"`)
	if head := regexp.MustCompile(`^NAME  STATE  TURN  TOKENS \(IN/OUT\)  LAST ACTIVITY  DIR\napi   idle   0     0/0 .*\nweb   idle   0     0/0 .*\n$`); !head.MatchString(text.out.String()) {
		t.Fatalf("list -w begins with\n%s", text.out.String())
	}
	w.podctl("submit", "-f", "-p", "api", "hello").run(0)
	w.podctl("pause", "web").run(0)
	text.out.await(t, "web   paused")
	w.podctl("rename", "web", "site").run(0)
	text.out.await(t, "site  paused")
	w.kill()
	w.start()
	text.err.await(t, "lost the connection")
	w.podctl("create", "later").run(0)
	text.out.await(t, "later  idle")
	objects.out.await(t, `"name":"later"`)
	w.podctl("delete", "later").run(0)
	text.out.await(t, "later  deleted")
	objects.out.await(t, `"removed":"pod_`)
	for _, p := range []*podctlProcess{text, objects} {
		_ = p.cmd.Process.Signal(os.Interrupt)
		if code := p.wait(); code != 130 {
			t.Errorf("exit code %d: %s", code, p.err.String())
		}
	}
	// The restart changed nothing, so that nothing was shown again.
	out := text.out.String()
	for what, want := range map[string]int{"NAME": 1, "web   idle": 1, "site  paused": 1} {
		if got := strings.Count(out, what); got != want {
			t.Errorf("%q is there %d times in\n%s", what, got, out)
		}
	}
	if !regexp.MustCompile(`(?m)^api   idle .* 1 `).MatchString(out) {
		t.Errorf("the end of the turn is not in\n%s", out)
	}
	w.podctl("list", "-w", "--trash").run(2)
}
