package builtin

import (
	"context"
	"fmt"

	"podd/pkg/tool"
)

// Leased is a tool of another program for a pod that another node may take over: no call of it
// begins once the lease is over, and one that runs then is given up.
func Leased(t tool.Tool, l *Lease) tool.Tool { return leased{t, l} }

type leased struct {
	tool.Tool
	lease *Lease
}

// Run runs the tool while the lease lasts.
func (t leased) Run(ctx context.Context, call *tool.Invocation) (tool.Output, error) {
	l := t.lease.get()
	if err := l.Check(); err != nil {
		return tool.Output{}, fmt.Errorf("not run: %w", err)
	}
	bound, release, err := l.Bind(ctx)
	if err != nil {
		return tool.Output{}, fmt.Errorf("not run: %w", err)
	}
	defer release()
	out, err := t.Tool.Run(bound, call)
	if err != nil && ctx.Err() == nil && bound.Err() != nil {
		err = fmt.Errorf("ended: %w; the call may have taken effect: verify before repeating", context.Cause(bound))
	}
	return out, err
}
