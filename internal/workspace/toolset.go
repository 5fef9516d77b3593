package workspace

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"podd/internal/letters"
	"podd/internal/questions"
	"podd/internal/tools/builtin"
	"podd/internal/workspace/skills"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// toolset is a pod's own tools.
type toolset struct {
	// names choose the pod's tools; empty for all.
	names []string
	tools []tool.Tool
	// spawn makes the tool that creates pods; nil if none may be created.
	spawn func(beside []string, agents []skills.Agent) []tool.Tool
	// agents are the presets of those pods.
	agents []skills.Agent
	// prefix begins the names of other programs' tools.
	prefix string
	// leased makes these tools end with the lease of the node; nil for a pod that stays on it.
	leased func(tool.Tool) tool.Tool
	log    *slog.Logger
	// alone are the tools without those of other programs, for most turns.
	alone *tool.Registry
}

// with combines the pod's own tools with those of other programs that its names select.
// If a name is taken, that is an error of the other program, which costs only that tool.
func (t toolset) with(foreign []tool.Tool) (*tool.Registry, error) {
	if len(foreign) == 0 && len(t.agents) == 0 && t.alone != nil {
		return t.alone, nil
	}
	tools := slices.Clone(t.tools)
	taken := append(namesOf(tools), pod.SpawnTool, pod.WaitTool, questions.Name)
	var others []tool.Tool
	for _, f := range chosen(t.names, foreign) {
		name := f.Spec().Name
		if slices.Contains(taken, name) {
			t.log.Warn("ignoring a tool of another program: its name is taken", "tool", name)
			continue
		}
		if t.leased != nil && strings.HasPrefix(name, t.prefix) {
			f = t.leased(f)
		}
		others, taken = append(others, f), append(taken, name)
	}
	listed := tools
	if !t.searched(others) {
		listed = append(tools, others...)
	}
	if t.spawn != nil {
		listed = append(listed, chosen(t.names, t.spawn(namesOf(append(tools, others...)), t.agents))...)
	}
	if t.searched(others) {
		return tool.NewSearched(listed, others, t.whose(others))
	}
	return tool.NewRegistry(listed...)
}

// maxListed is how many tokens the definitions of other programs' tools may cost in each
// request; those that cost more are behind a search.
const maxListed = 8000

// maxTools is how many tools OpenAI takes in a request.
const maxTools = 128

// searched says whether such tools are behind a search. What a token is does not change as
// bills come in: the list of tools stays the same.
func (t toolset) searched(others []tool.Tool) bool {
	bytes := 0
	for _, o := range others {
		s := o.Spec()
		bytes += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	return fold.Estimate(bytes, 0) > maxListed || len(t.tools)+len(others)+2 > maxTools // With those of sub-pods.
}

// whose names the servers that such tools are of.
func (t toolset) whose(others []tool.Tool) string {
	const most = 30
	var servers []string
	for _, name := range namesOf(others) {
		server, _, _ := strings.Cut(strings.TrimPrefix(name, t.prefix), "__")
		if !slices.Contains(servers, server) {
			servers = append(servers, server)
		}
	}
	slices.Sort(servers)
	if left := len(servers) - most; left > 0 {
		servers = append(servers[:most], fmt.Sprintf("%d more", left))
	}
	return "those of the MCP servers " + strings.Join(servers, ", ")
}

func namesOf(tools []tool.Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Spec().Name
	}
	return names
}

// checkTools refuses names that no tool has, unless the previous spec had them too.
func (all *Workspaces) checkTools(names, before []string) error {
	if slices.Equal(names, before) {
		return nil
	}
	// In the order for the model.
	known := append(append(builtin.Names(), namesOf(all.Tools)...), skills.ToolName, pod.SpawnTool, pod.WaitTool, letters.ToolName)
	known = append(known, slices.Sorted(maps.Keys(all.Named))...)
	if all.History != nil {
		known = append(known, tool.History)
	}
	if all.AskUser != nil {
		known = append(known, questions.Name)
	}
	for _, name := range names {
		if _, foreign := all.foreign(name); !foreign && !slices.Contains(known, name) {
			return item.Errorf(item.KindInvalid, "BAD_TOOLS", "there is no tool %q: the tools are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// chosen are the tools with these names, in their old order; without names all of them.
// It ignores names that no tool has any more: fewer tools never widen a pod.
func chosen(names []string, tools []tool.Tool) []tool.Tool {
	if len(names) == 0 {
		return tools
	}
	return slices.DeleteFunc(tools, func(t tool.Tool) bool { return !slices.Contains(names, t.Spec().Name) })
}
