package workspace

import (
	"log/slog"
	"slices"
	"strings"

	"podd/internal/workspace/skills"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
)

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
	taken := append(namesOf(tools), pod.SpawnTool)
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

func namesOf(tools []tool.Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Spec().Name
	}
	return names
}

// checkTools refuses names that no tool has, unless the spec before had them too.
func (all *Workspaces) checkTools(names, before []string) error {
	if slices.Equal(names, before) {
		return nil
	}
	// In the order in which a model is sent them.
	known := append(append(builtin.Names(), namesOf(all.Tools)...), skills.ToolName, pod.SpawnTool)
	for _, name := range names {
		if _, foreign := all.foreign(name); !foreign && !slices.Contains(known, name) {
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
