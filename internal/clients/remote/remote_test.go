package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"podd/internal/clients/remote"
	"podd/pkg/item"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ssh puts a program of that name, a shell script, first on the PATH.
func ssh(t *testing.T, script string) *remote.Remote {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // It is a program.
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	host, err := remote.ParseHost("ssh://build1")
	if err != nil {
		t.Fatal(err)
	}
	return remote.New(host)
}

func TestParseHost(t *testing.T) {
	for text, want := range map[string]string{
		"ssh://build1":              "ssh://build1",
		"ssh://build1/":             "ssh://build1",
		"ssh://ada@build1:22":       "ssh://ada@build1:22",
		"ssh://ada@[fe80::1]:2222":  "ssh://ada@[fe80::1]:2222",
		"build1":                    "",
		"":                          "",
		"ssh://":                    "",
		"ssh:build1":                "",
		"tcp://build1":              "",
		"ssh://build1/run/x.sock":   "",
		"ssh://build1?a":            "",
		"ssh://a:b@build1":          "",
		"ssh://-oProxyCommand=id":   "",
		"ssh://-oX@build1":          "",
		"ssh://build1:x":            "",
		"ssh://build1 -oX":          "",
		"ssh://build1\n":            "",
		"ssh://ada@build1:22#other": "",
	} {
		host, err := remote.ParseHost(text)
		switch {
		case want == "" && (err == nil || item.ReasonOf(err) != "BAD_HOST"):
			t.Errorf("%q: %v %v", text, host, err)
		case want != "" && (err != nil || host.String() != want):
			t.Errorf("%q: %v %v, want %s", text, host, err, want)
		}
	}
}

// The greeting ends where podd's bytes begin, whatever the shell over there writes first.
func TestNoiseBeforeTheGreeting(t *testing.T) {
	r := ssh(t, `echo Welcome; printf 'podd-stdio/1\nno newline podd-stdio/1 {}\n'; printf 'podd-stdio/1 {"token":"t1"}\n'; exec cat`)
	conn, err := r.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if token, err := r.Token(t.Context()); err != nil || token != "t1" {
		t.Errorf("token %q, %v", token, err)
	}
	if _, err := conn.Write([]byte("ping")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "ping" {
		t.Errorf("%q, %v", got, err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// A token that is asked for before any connection comes from the one that Dial returns next.
func TestTokenBeforeTheConnection(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	r := ssh(t, `echo x >> `+count+`; printf 'podd-stdio/1 {"token":"t1"}\n'; exec cat`)
	if token, err := r.Token(t.Context()); err != nil || token != "t1" {
		t.Fatalf("token %q, %v", token, err)
	}
	conn, err := r.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if runs, _ := os.ReadFile(count); string(runs) != "x\n" { //nolint:gosec // It is this test's file.
		t.Errorf("ssh ran %d times, want once", bytes.Count(runs, []byte("\n")))
	}
}

// What a person may copy from an error is no more than ssh with that host.
func TestCommandOfStrangeHost(t *testing.T) {
	for address, want := range map[string]string{
		"ssh://$(id)": `'$(id)'`, "ssh://a;id": `'a;id'`, "ssh://a&id": `'a&id'`, "ssh://a'b": `'a'\''b'`,
		"ssh://a$(id)@b": `'a$(id)@b'`, "ssh://a;id@b:22": `-p 22 'a;id@b'`, "ssh://[::1]": "::1",
	} {
		host, err := remote.ParseHost(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		ssh(t, "exit 255")
		if _, err := remote.New(host).Dial(t.Context()); err == nil || !strings.Contains(err.Error(), "`ssh "+want+"`") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestNotReached(t *testing.T) {
	for name, tt := range map[string]struct {
		script, want string
		kind         item.ErrorKind
	}{
		"refused":  {`echo first >&2; printf 'ssh: port 22: Connection \033[1mrefused\r\n' >&2; exit 255`, "cannot reach podd on ssh://build1: see whether `ssh build1` works (ssh: port 22: Connection \\x1b[1mrefused)", item.KindUnavailable},
		"key":      {`echo 'Host key verification failed.' >&2; exit 255`, "cannot reach podd on ssh://build1: run `ssh build1` at a terminal to check the key of that machine (Host", item.KindUnavailable},
		"login":    {`echo 'ada@build1: Permission denied (publickey).' >&2; exit 255`, "cannot reach podd on ssh://build1: ssh can ask for no password here: load a key with ssh-add until `ssh build1` asks nothing (ada", item.KindUnavailable},
		"bare":     {`echo 'sh: 1: podctl: not found' >&2; exit 127`, "cannot reach podd on ssh://build1: install podctl there, on the PATH that `ssh build1` has (sh: 1: podctl: not found)", item.KindUnavailable},
		"silent":   {`exit 3`, "cannot reach podd on ssh://build1: see what `ssh build1 podctl dial-stdio` says (ssh ended without a word: exit status 3)", item.KindUnavailable},
		"no podd":  {`echo 'podd-stdio/1 {"error":{"kind":"unavailable","reason":"UNREACHABLE","message":"cannot reach podd at /x"}}'`, "on ssh://build1: cannot reach podd at /x", item.KindUnavailable},
		"denied":   {`echo 'podd-stdio/1 {"error":{"kind":"permission_denied","reason":"SOCKET_NOT_OURS","message":"not yours"}}'`, "on ssh://build1: not yours", item.KindDenied},
		"damaged":  {`echo 'podd-stdio/1 {'; exec cat`, "cannot reach podd on ssh://build1: see what `ssh build1 podctl dial-stdio` says (ssh ended without a word: exit status 0)", item.KindUnavailable},
		"no end":   {`exec yes`, "cannot reach podd on ssh://build1: ", item.KindUnavailable},
		"too long": {`head -c 70000 /dev/zero`, "cannot reach podd on ssh://build1: see what `ssh build1 podctl dial-stdio` says (ssh ended without a word: ", item.KindUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := ssh(t, tt.script).Dial(t.Context())
			if err == nil {
				t.Fatal(conn.Close())
			}
			if !strings.HasPrefix(err.Error(), tt.want) || item.KindOf(err) != tt.kind {
				t.Errorf("%s: %v", item.KindOf(err), err)
			}
		})
	}
}

func TestWithoutSSH(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	host, _ := remote.ParseHost("ssh://build1")
	_, err := remote.New(host).Dial(t.Context())
	if err == nil || err.Error() != "cannot reach podd on ssh://build1: ssh cannot be started: install it here, or put it on the PATH" {
		t.Error(err)
	}
}

// Who stops waiting for a host that says nothing leaves no ssh behind.
func TestDialGivesUp(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(dir+"/up", 0o600); err != nil {
		t.Fatal(err)
	}
	r := ssh(t, `trap 'echo ended > `+dir+`/down; exit' TERM; echo > `+dir+`/up; while :; do sleep 0.05; done`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(dir + "/up") //nolint:gosec // It is this test's file.
		cancel()
	}()
	if _, err := r.Dial(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "did not answer in time") {
		t.Error(err)
	}
	if said, _ := os.ReadFile(dir + "/down"); string(said) != "ended\n" { //nolint:gosec // It is this test's file.
		t.Errorf("ssh was not ended: %q", said)
	}
}

func TestServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, podd := net.Pipe()
		in, typed := io.Pipe()
		var out bytes.Buffer
		done := make(chan error)
		go func() { done <- remote.Serve(here, "t1", in, &out) }()
		go func() { _, _ = typed.Write([]byte("ping")) }()
		got := make([]byte, 4)
		if _, err := io.ReadFull(podd, got); err != nil || string(got) != "ping" {
			t.Errorf("%q, %v", got, err)
		}
		if _, err := podd.Write([]byte("pong")); err != nil {
			t.Error(err)
		}
		_, _ = podd.Close(), typed.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if out.String() != "podd-stdio/1 {\"token\":\"t1\"}\npong" {
			t.Errorf("%q", out.String())
		}
	})
}
