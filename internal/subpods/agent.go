package subpods

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"podd/internal/extend/claude"
	"podd/internal/workspace/skills"
	"podd/pkg/item"
)

// maxListed bounds what the description of spawn_pod says of agents, maxAbout what it says of one, in bytes.
const (
	maxListed = 4 << 10
	maxAbout  = 300
)

// listed is the list of agents for the description; empty without any.
func listed(agents []skills.Agent) string {
	if len(agents) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nAgents:\n")
	for n, a := range agents {
		about := a.Description
		if len(about) > maxAbout {
			about = strings.ToValidUTF8(about[:maxAbout], "") + "…"
		}
		line := fmt.Sprintf("- %s: %s\n", a.Name, about)
		if b.Len()+len(line) > maxListed {
			fmt.Fprintf(&b, "[%d more are not listed]\n", len(agents)-n)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// preset gives a spec the instructions of an agent, and of the tools that it has so far those of the agent.
func (s *spawner) preset(spec *item.PodSpec, args arguments) error {
	i := slices.IndexFunc(s.agents, func(a skills.Agent) bool { return a.Name == args.Agent })
	if i < 0 {
		return item.Errorf(item.KindInvalid, "BAD_AGENT", "not run: there is no agent %q: leave it out, or take one of the description", args.Agent)
	}
	agent, whose := s.agents[i], "the workspace's word"
	if agent.User {
		whose = "the user's own"
	}
	spec.Instructions = strings.TrimSpace(cmp.Or(spec.Instructions, s.Host.Settings().Instructions) +
		fmt.Sprintf("\n\nYou are the agent %s. Its instructions, %s:\n\n%s", agent.Name, whose, agent.Instructions))
	if agent.Tools == nil {
		return nil
	}
	allowed := claude.Tools(agent.Tools)
	has := s.tools
	if len(args.Tools) > 0 {
		has = args.Tools
	}
	spec.Tools = slices.DeleteFunc(slices.Clone(has), func(name string) bool { return !slices.Contains(allowed, name) })
	if len(spec.Tools) == 0 {
		return item.Errorf(item.KindInvalid, "BAD_AGENT", "not run: the agent %s may have %s, and you have none of these tools to pass on", agent.Name, strings.Join(allowed, ", "))
	}
	return nil
}
