package pod

import (
	"log/slog"
	"slices"
	"strings"

	"podd/internal/workspace/skills"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
)

// SpawnTool is the name of the tool that makes pods, which a pod has when its spec has
// SubPods.
const SpawnTool = "spawn_pod"

// toolset is a pod's own tools.
type toolset struct {
	// names choose the pod's tools; empty for all.
	names []string
	tools []tool.Tool
	// spawn makes the tool that makes pods; nil where none may be made.
	spawn func(beside []string) tool.Tool
	log   *slog.Logger
}

// with puts the pod's own tools together with those of other programs that its names
// choose. A name that is taken is a fault of the other program's, which costs that tool
// and not the pod's turns.
func (t toolset) with(foreign []tool.Tool) (*tool.Registry, error) {
	tools := slices.Clone(t.tools)
	taken := append(namesOf(tools), SpawnTool)
	for _, f := range chosen(t.names, foreign) {
		name := f.Spec().Name
		if slices.Contains(taken, name) {
			t.log.Warn("tool of another program left out, for its name is taken", "tool", name)
			continue
		}
		tools, taken = append(tools, f), append(taken, name)
	}
	if t.spawn != nil {
		tools = append(tools, chosen(t.names, []tool.Tool{t.spawn(namesOf(tools))})...)
	}
	return tool.NewRegistry(tools...)
}

// toolNames are those of all tools that a pod can have, in the order in which a model
// is sent them.
func (h *Host) toolNames() []string {
	return append(append(builtin.Names(), namesOf(h.Tools)...), skills.ToolName, SpawnTool)
}

func namesOf(tools []tool.Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Spec().Name
	}
	return names
}

// checkTools refuses names that no tool has.
func (h *Host) checkTools(names []string) error {
	known := h.toolNames()
	for _, name := range names {
		if !slices.Contains(known, name) && (h.ForeignPrefix == "" || !strings.HasPrefix(name, h.ForeignPrefix)) {
			return item.Errorf(item.KindInvalid, "BAD_TOOLS", "there is no tool %q: the tools are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// chosen are the tools of these names, in their old order; all of them when there is no
// name. Names that no tool has any more are passed over: fewer tools are never more.
func chosen(names []string, tools []tool.Tool) []tool.Tool {
	if len(names) == 0 {
		return tools
	}
	return slices.DeleteFunc(tools, func(t tool.Tool) bool { return !slices.Contains(names, t.Spec().Name) })
}
