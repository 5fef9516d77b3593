package shim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/commands/confine"
	"podd/internal/commands/shim"
)

// A command under Landlock has the rules of its command line, leads a session, and has no descriptor of podd's.
func TestConfined(t *testing.T) {
	if confine.Version() < confine.MinVersion {
		t.Skip("the kernel has no Landlock, or an old one")
	}
	test := func(t *testing.T, s starter) {
		open, closed := t.TempDir(), t.TempDir()
		root, err := os.Open(open)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		rules := confine.Rules{
			Read: []string{"/usr", "/bin", "/lib", "/lib64", "/etc", "/proc"}, WriteOpen: []string{"3"},
			Devices: []string{"/dev/null"}, Filter: confine.AllowNothing,
		}
		status, output := run(t, s, func(c *shim.Command) {
			c.Args = rules.Command("/proc/self/exe", c.Args)
			c.Dir, c.Files = open, []*os.File{root}
			c.Env = append(c.Env, "CLOSED=first", "CLOSED="+closed)
		}, `pwd; echo variables: $(tr '\0' '\n' </proc/$$/environ | grep -c CLOSED=); echo x >in && echo written; echo x >"$CLOSED/out" || echo refused; ls /proc/self/fd | wc -l
grep NoNewPrivs /proc/self/status; setsid true || echo no session; [ $(cut -d' ' -f6 /proc/$$/stat) = $$ ] && echo leader; exit 7`)
		want := []string{open, "written", "refused", "NoNewPrivs:\t1", "no session", "leader", "variables: 1"}
		for _, line := range want {
			if !strings.Contains(output, line+"\n") {
				t.Errorf("there is no line %q", line)
			}
		}
		// Three standard ones, and that of the directory, which ls reads.
		if !strings.Contains(output, "\n4\n") || status != "7" {
			t.Errorf("status %s:\n%s", status, output)
		}
		if _, err := os.Stat(filepath.Join(closed, "out")); err == nil {
			t.Error("the command wrote where it may not")
		}
	}
	t.Run("shim", func(t *testing.T) { test(t, newClient(t)) })
	t.Run("launcher", func(t *testing.T) { test(t, launcherClient(t)) })
}

// limitVariable makes TestCommandsHaveTheFirstLimit run under a limit of open files.
const limitVariable = "PODD_TEST_LIMIT"

// Go raises the limit of open files of its own process. A command has the one that podd was started with, also when a
// helper confines it: many programs close all descriptors up to the limit.
func TestCommandsHaveTheFirstLimit(t *testing.T) {
	if os.Getenv(limitVariable) == "" {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `ulimit -Sn 123; exec "$0" -test.run=^TestCommandsHaveTheFirstLimit$`, os.Args[0])
		cmd.Env = append(os.Environ(), limitVariable+"=123")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	helped := func(c *shim.Command) {
		c.Args = confine.Rules{Read: []string{"/"}, Devices: []string{"/dev/null"}, Filter: confine.AllowNothing}.Command("/proc/self/exe", c.Args)
	}
	ways := map[string]func(*shim.Command){"bare": nil}
	if confine.Version() >= confine.MinVersion {
		ways["helper"] = helped
	}
	for name, adjust := range ways {
		if _, output := run(t, newClient(t), adjust, "ulimit -Sn"); output != os.Getenv(limitVariable)+"\n" {
			t.Errorf("%s: %q", name, output)
		}
	}
}
