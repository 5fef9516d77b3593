package workspace

import (
	"context"
	"crypto/rand"
	"encoding/json"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// Check runs a command by the shell tool; see [pod.Ground].
func (g *ground) Check(ctx context.Context, command string, seconds int) (tool.Output, error) {
	own, err := g.workspace.tools(g.settings, g.dir)
	if err != nil {
		return tool.Output{}, err
	}
	tools, err := own.with(nil)
	if err != nil {
		return tool.Output{}, err
	}
	shell, ok := tools.Lookup("shell")
	if !ok {
		return tool.Output{}, item.Errorf(item.KindPrecondition, "NO_SHELL", "pod %s may not run commands: add shell to its tools with podctl update", g.workspace.name)
	}
	written, err := json.Marshal(map[string]any{"command": command, "timeout_seconds": seconds})
	if err != nil {
		return tool.Output{}, err
	}
	arguments, err := shell.Check(string(written))
	if err != nil {
		return tool.Output{}, item.Errorf(item.KindInvalid, "BAD_CHECK", "%v", err)
	}
	return shell.Run(ctx, &tool.Invocation{Arguments: arguments, Pod: g.workspace.id, Check: true, CallID: "check_" + rand.Text()})
}
