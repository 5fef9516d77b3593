package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	poddv1 "podd/proto/podd/v1"
)

// changing is a podd with one waiting call that accepts every answer.
type changing struct {
	poddv1.UnimplementedApprovalServiceServer
	waiting *poddv1.Approval
	answer  *poddv1.ResolveApprovalRequest
}

func (c *changing) ListApprovals(context.Context, *poddv1.ListApprovalsRequest) (*poddv1.ListApprovalsResponse, error) {
	return &poddv1.ListApprovalsResponse{Approvals: []*poddv1.Approval{c.waiting}}, nil
}

func (c *changing) ResolveApproval(_ context.Context, r *poddv1.ResolveApprovalRequest) (*poddv1.ResolveApprovalResponse, error) {
	c.answer = r
	return &poddv1.ResolveApprovalResponse{}, nil
}

// An approval covers only what podctl has shown, so that no other call can run by it. For
// a call that podctl has not shown it sends a digest that matches no call. A denial needs
// no digest.
func TestAnswerIsBoundToWhatWasShown(t *testing.T) {
	dir, err := os.MkdirTemp("", "podctl") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	digest := bytes.Repeat([]byte{0x3f, 0x2a}, 16)
	podd := &changing{waiting: &poddv1.Approval{Pod: "pod_1", PodName: "p", CallSeq: 12, Tool: "shell", Arguments: `{"command":"make"}`, Digest: digest}}
	server := grpc.NewServer()
	poddv1.RegisterApprovalServiceServer(server, podd)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	defer func() { server.Stop(); <-served }()

	none := make([]byte, 32)
	for _, tt := range []struct {
		args   string
		code   int
		digest []byte
	}{
		{"approve p 12", 0, digest},
		{"approve p 12 --always", 0, digest},
		{"approve p 12 --digest 3F2a3f", 0, digest},
		{"approve p 12 --digest " + hex.EncodeToString(digest), 0, digest},
		{"approve p 12 --digest 3f2b", 1, nil},
		{"approve p 13", 0, none},
		{"deny p 12", 0, []byte{}},
	} {
		podd.answer = nil
		var out, stderr bytes.Buffer
		code := run(t.Context(), append(strings.Fields(tt.args), "--socket", l.Addr().String()), program{
			stdin: strings.NewReader(""), stdout: &out, stderr: &stderr, env: func(string) string { return "" }, now: time.Now,
		})
		switch {
		case code != tt.code:
			t.Errorf("%s: exit code %d, %s", tt.args, code, stderr.String())
		case tt.digest == nil && podd.answer != nil:
			t.Errorf("%s: answered %v", tt.args, podd.answer)
		case tt.digest != nil && !bytes.Equal(podd.answer.GetDigest(), tt.digest):
			t.Errorf("%s: answered with the digest %x, want %x", tt.args, podd.answer.GetDigest(), tt.digest)
		case strings.Contains(tt.args, "approve p 12") && code == 0 && !strings.Contains(out.String(), "  command: make\n"):
			t.Errorf("%s: what was approved is not shown: %q", tt.args, out.String())
		}
	}
}

// At a terminal, approve --always shows its rule and asks before it adds it.
func TestAlwaysShowsItsRule(t *testing.T) {
	t.Parallel()
	w := newWorld(t, results("echo one"))
	watch, _, call := w.asks("p")
	answer := func(keys string, code int, want string) {
		t.Helper()
		p, typed := w.onTerminal("approve", "p", call, "--always")
		p.out.await(t, `, and add the rule allow, tool "shell", command "echo one"? [y] yes [Enter] no: `)
		typed(keys)
		p.out.await(t, want)
		if got := p.wait(); got != code {
			t.Errorf("after %q it ended with %d, want %d", keys, got, code)
		}
	}
	answer("\n", 1, "still waits")
	if rules, _ := w.podctl("rules", "p", "-o", "json").run(0); rules != "" {
		t.Errorf("after a no there are the rules %s", rules)
	}
	answer("y\n", 0, `rule added: allow, tool "shell", command "echo one"`)
	if code := watch.wait(); code != 0 {
		t.Errorf("submit -f ended with %d:\n%s", code, watch.out.String())
	}
}
