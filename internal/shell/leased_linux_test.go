package shell_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/commands/lease"
	"podd/internal/shell"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// A call of another program's tool begins only while the lease lasts, and ends with it. Its result
// says what is known.
func TestLeasedTools(t *testing.T) {
	l, err := lease.Open(filepath.Join(t.TempDir(), "lease"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	begun, stop := 0, func() {}
	foreign, err := tool.NewForeign(tool.Foreign{
		ToolSpec: item.ToolSpec{Name: "mcp__a__b", Description: "waits", Schema: `{"type":"object"}`},
		Touches:  func() tool.Access { return tool.Access{} },
		Call: func(ctx context.Context, call *tool.Invocation) (tool.Output, error) {
			begun++
			if call.Arguments != "{}" {
				return tool.FromString("done"), nil
			}
			stop()
			<-ctx.Done()
			return tool.Output{}, context.Cause(ctx)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	tl := shell.Leased(foreign, l)
	run := func(arguments string) (tool.Output, error) {
		return tl.Run(t.Context(), &tool.Invocation{Arguments: arguments})
	}
	if _, err := run("{}"); err == nil || begun != 0 || !strings.HasPrefix(err.Error(), "not run: this node lost its lease") {
		t.Errorf("without a lease: %v, begun %d times", err, begun)
	}
	stop = renewed(t, l)
	if out, err := run(`{"at":"once"}`); err != nil || out.Summary != "done" && out.Content != "done" {
		t.Errorf("with a lease: %+v, %v", out, err)
	}
	if _, err := run("{}"); err == nil || begun != 2 || !strings.Contains(err.Error(), "lost its lease") || !strings.Contains(err.Error(), "may have taken effect") {
		t.Errorf("at the end of the lease: %v, begun %d times", err, begun)
	}
	if _, err := shell.Leased(foreign, nil).Run(t.Context(), &tool.Invocation{Arguments: "{}"}); err == nil || begun != 2 {
		t.Errorf("nil is a lease: %v", err)
	}
}
