package shell_test

import (
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
	"podd/internal/shell"
	"podd/pkg/item"
	"podd/pkg/tool/spool"
)

// A result that looks as if the sandbox kept something from the command says which access
// helps.
func TestShellSaysWhichAccessHelps(t *testing.T) {
	const network, host, loopback = `access "network" and why`, `access "host" and why`, "loopback of its own"
	b := newBench(t, map[string]string{"log.txt": "connect: network is unreachable\n"}, confined(t, sandbox.Bwrap))
	onHost(t, b.dir, newRepository)
	for _, c := range []struct{ arguments, want string }{
		{object("command", "echo \"curl: (6) Could not resolve host: example.com\" >&2; exit 6"), network},
		{object("command", "echo 'npm error code EAI_AGAIN'; exit 1"), network},
		{object("command", "echo 'go: dial tcp: lookup proxy.golang.org: Temporary failure in name resolution' | tail -n 5"), network},
		{object("command", "echo 'connect: network is unreachable'; exit 1"), network},
		{object("command", "exec 3<>/dev/tcp/127.0.0.1/9"), loopback},
		{object("command", "echo x >/var/x"), host},
		{object("command", "cd / && touch x"), host},
		{asking(item.AccessNetwork, "echo 'git@example.com: Permission denied (publickey).'; exit 1"), host},
		{asking(item.AccessNetwork, "echo 'Could not resolve host: x'; exit 6"), ""},
		{asking(item.AccessHost, "echo 'cannot create x: Read-only file system'; exit 1"), ""},
		{object("command", "cat log.txt"), ""},
		{object("command", "echo fine; exit 1"), ""},
	} {
		out := b.call("shell", c.arguments)
		if c.want == "" && strings.Contains(out.Summary, "access") || !strings.Contains(out.Summary, c.want) {
			t.Errorf("%s: %s, want %s", c.arguments, out.Summary, c.want)
		}
	}
}

func TestShellSaysWhichAccessHelpsUnderLandlock(t *testing.T) {
	b := newBench(t, nil, confined(t, sandbox.Landlock))
	for command, want := range map[string]string{
		"exec 3<>/dev/tcp/127.0.0.1/9": `access "network" and why`,
		"touch '/etc/x'":               `access "host" and why`,
	} {
		if out := b.call("shell", object("command", command)); !strings.Contains(out.Summary, want) {
			t.Errorf("%s: %s, want %s", command, out.Summary, want)
		}
	}
}

// A result that is found again without the pod's directories says how the command ended.
func TestShellRecoversWithoutTheDirectories(t *testing.T) {
	adjust := confined(t, sandbox.Bwrap)
	t.Setenv(sandboxVariable, sandbox.Bwrap)
	dir, spoolDir := t.TempDir(), t.TempDir()
	arguments := object("command", ": >ready; until [ -e go ]; do sleep 0.01; done; echo \"'.git/x': Read-only file system\"; exit 1")
	killAfter(t, dir, spoolDir, arguments, "ready")
	(&bench{t: t, dir: dir}).write("go", "")
	all, err := spool.Open(spool.Config{Dir: spoolDir})
	if err != nil {
		t.Fatal(err)
	}
	var c setup
	adjust(&c)
	if c.Spool, err = all.Folder("p"); err != nil {
		t.Fatal(err)
	}
	out, found, err := shell.New(c.Config, c.Place).Tools()[0].Recover(t.Context(), with(theCall, arguments))
	if err != nil || found != item.RecoveryFound || !strings.Contains(out.Summary, "exit 1") {
		t.Errorf("%v, %v: %+v", found, err, out)
	}
}
