package shell_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/tooltest"
)

// asking is a call of the shell that asks for access.
func asking(level item.Access, command string) string {
	return object("command", command, "access", string(level), "why", "a test")
}

func TestShellRefusesWrongAccess(t *testing.T) {
	b := newBench(t, nil)
	for arguments, want := range map[string]string{
		`{"command":"true","access":"root","why":"x"}`:                                   "access",
		`{"command":"true","access":"git","why":"x"}`:                                    "access",
		`{"command":"true","access":"host"}`:                                             `why is missing: say what the command needs access "host" for`,
		`{"command":"true","access":"host","why":" \n"}`:                                 "why is missing",
		`{"command":"true","access":"network","why":"` + strings.Repeat("é", 151) + `"}`: "why has 302 bytes: say it in 300",
		`{"command":"true","access":["host"],"why":"x"}`:                                 "access",
		`{"command":"true","access":"host","why":7}`:                                     "why",
		`{"command":"true","Access":"host","why":"x"}`:                                   "Access",
	} {
		if _, err := b.tool("shell").Check(arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", arguments, err, want)
		}
	}
	for arguments, want := range map[string]string{
		`{"command":"true","access":"sandbox"}`:                                          `{"command":"true","timeout_seconds":120}`,
		`{"command":"true","why":"x"}`:                                                   `{"command":"true","timeout_seconds":120}`,
		`{"command":"true","access":"host","why":" x "}`:                                 `{"command":"true","timeout_seconds":120,"access":"host","why":"x"}`,
		`{"command":"true","access":"network","why":"` + strings.Repeat("a", 300) + `"}`: `{"command":"true","timeout_seconds":120,"access":"network","why":"` + strings.Repeat("a", 300) + `"}`,
	} {
		if got, err := b.tool("shell").Check(arguments); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", arguments, got, err, want)
		}
	}
}

// What a call asks for is more than the pod has, or not.
func TestShellSaysWhatIsMore(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			network := false
			b := newBench(t, nil, confined(t, mode), func(c *setup) { c.Network = func() bool { return network } })
			onHost(t, b.dir, newRepository)
			type more struct{ beyond, confined, protected bool }
			look := func(arguments string) (more, tool.Access) {
				a := b.tool("shell").Access(arguments)
				return more{a.Beyond, a.Confined, len(a.Protected) > 0}, a
			}
			for _, c := range []struct {
				arguments string
				want      more
			}{
				{object("command", "make"), more{false, true, false}},
				{asking(item.AccessNetwork, "make"), more{true, false, false}},
				{asking(item.AccessHost, "git pull"), more{true, false, false}},
				{asking(item.AccessNetwork, "git fetch"), more{true, false, false}},
				{object("command", "git config a.b c; rm -f .git/index.lock"), more{false, true, false}},
				{object("command", "make && git push"), more{false, true, true}},
			} {
				if got, a := look(c.arguments); got != c.want || a.Level == "" {
					t.Errorf("%s: %+v, want %+v", c.arguments, a, c.want)
				}
			}
			network = true
			if got, a := look(asking(item.AccessNetwork, "make")); got != (more{false, true, false}) {
				t.Errorf("in a pod with the network: %+v", a)
			}
		})
	}
}

func TestShellReachesTheNetworkByAccess(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("served")) }))
	t.Cleanup(server.Close)
	address := server.Listener.Addr().(*net.TCPAddr)
	command := "exec 3<>/dev/tcp/127.0.0.1/" + strings.TrimPrefix(address.String(), "127.0.0.1:") + "; printf 'GET / HTTP/1.0\r\n\r\n' >&3; cat <&3"
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			network := false
			b := newBench(t, nil, confined(t, mode), func(c *setup) { c.Network = func() bool { return network } })
			for _, c := range []struct {
				arguments string
				want      bool
			}{
				{object("command", command), false},
				{asking(item.AccessNetwork, command), true},
				{asking(item.AccessHost, command), true},
			} {
				if out := b.call("shell", c.arguments); strings.Contains(out.Content, "served") != c.want || out.IsError == c.want {
					t.Errorf("%s: %s\n%s", c.arguments, out.Summary, out.Content)
				}
			}
			network = true
			if out := b.call("shell", object("command", command)); !strings.Contains(out.Content, "served") {
				t.Errorf("in a pod with the network: %s\n%s", out.Summary, out.Content)
			}
		})
	}
}

// With access host a command runs as the person's do, within the bound on memory.
func TestShellLeavesTheSandboxByAccess(t *testing.T) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) {
			b := newBench(t, nil, confined(t, mode, func(c *sandbox.Config) { c.MaxMemory = 64 << 20 }),
				func(c *setup) { c.Environ = append(os.Environ(), "SSH_AUTH_SOCK=/run/agent") })
			onHost(t, b.dir, newRepository)
			outside := filepath.Join(elsewhere(t), "made")
			if out := b.call("shell", object("command", "echo x >"+outside+"; echo [$SSH_AUTH_SOCK]")); !strings.Contains(out.Content, "[]") {
				t.Errorf("%s\n%s", out.Summary, out.Content)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Fatal("a command left the sandbox unasked")
			}
			out := b.call("shell", asking(item.AccessHost, "echo x >"+outside+" && git config a.b c && echo husky >.npmrc && echo $SSH_AUTH_SOCK"))
			if _, err := os.Stat(outside); err != nil || out.IsError || !strings.Contains(out.Content, "/run/agent") {
				t.Errorf("%v: %s\n%s", err, out.Summary, out.Content)
			}
			if got := onHost(t, b.dir, "git config a.b; cat .npmrc"); got != "c\nhusky" {
				t.Errorf("got %s", got)
			}
			// Until the bound ends it.
			out = tooltest.Invoke(t.Context(), t, b.tool("shell"), tool.Invocation{CallID: "m", Arguments: asking(item.AccessHost, "x=$(head -c 200000000 /dev/zero | tr '\\0' x); while :; do sleep 1; done")})
			if !out.IsError || !strings.Contains(out.Summary, "memory") {
				t.Errorf("%s\n%s", out.Summary, out.Content)
			}
		})
	}
}

// Without a sandbox all levels are the same.
func TestAccessWithoutASandbox(t *testing.T) {
	b := newBench(t, nil)
	for arguments, want := range map[string]tool.Access{
		`{"command":"make"}`:                           {Command: "make", Level: item.AccessSandbox},
		`{"command":"make","access":"host","why":"x"}`: {Command: "make", Level: item.AccessHost, Why: "x"},
	} {
		if got := b.tool("shell").Access(arguments); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}
