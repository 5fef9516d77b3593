package subpods

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"podd/internal/extend/claude"
	"podd/internal/guard/policy"
	"podd/internal/workspace/skills"
	"podd/pkg/item"
	"podd/pkg/llm"
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

// preset gives a spec the instructions and the model of an agent, and of the tools that it has so far those of the agent.
func (s *spawner) preset(spec *item.PodSpec, args arguments) error {
	i := slices.IndexFunc(s.agents, func(a skills.Agent) bool { return args.Agent == a.Name || args.Agent == a.Plugin+":"+a.Name })
	if i < 0 {
		return item.Errorf(item.KindInvalid, "BAD_AGENT", "not run: there is no agent %q: leave it out, or take one of the description", args.Agent)
	}
	agent, whose := s.agents[i], "the workspace's word"
	if agent.User {
		whose = "the user's own"
	}
	has := s.tools
	if len(args.Tools) > 0 {
		has = args.Tools
	}
	lacks, err := equip(spec, agent, has)
	if err != nil {
		return err
	}
	spec.Instructions = strings.TrimSpace(cmp.Or(spec.Instructions, s.Host.Settings().Instructions) +
		fmt.Sprintf("\n\nYou are the agent %s. Its instructions, %s:\n\n%s", agent.Name, whose, agent.Instructions) + lacks)
	s.model(spec, agent.Model)
	return nil
}

// equip gives a spec those of some tools that an agent may have, and rules for its commands. lacks tells the agent what it does
// not have.
func equip(spec *item.PodSpec, agent skills.Agent, has []string) (lacks string, err error) {
	if agent.Tools == nil && agent.Denied == nil {
		return "", nil
	}
	may, not := claude.Tools(agent.Tools), claude.Tools(agent.Denied)
	if len(not.Commands) > 0 {
		not.Tools = slices.DeleteFunc(not.Tools, func(name string) bool { return name == shellTool })
	}
	denied := append(not.Tools, not.Limited...)
	if len(may.Commands)+len(not.Commands) > 0 {
		denied = append(denied, jobTool) // What is typed into a job meets no rule.
	}
	spec.Tools = slices.DeleteFunc(slices.Clone(has), func(name string) bool {
		return agent.Tools != nil && !claude.HasTool(may.Tools, name) || claude.HasTool(denied, name)
	})
	if len(spec.Tools) == 0 {
		return "", item.Errorf(item.KindInvalid, "BAD_AGENT", "not run: you have no tool that the agent %s may use: leave agent out", agent.Name)
	}
	if slices.ContainsFunc(spec.Rules, func(r item.Rule) bool { return r.Decision == policy.Only }) && len(may.Commands) > 0 {
		return "", item.Errorf(item.KindInvalid, "BAD_AGENT", "not run: the agent %s has its own list of commands and so have you: take an agent without one", agent.Name)
	}
	for _, c := range may.Commands {
		spec.Rules = append(spec.Rules, item.Rule{Tool: shellTool, Command: c, Decision: policy.Only})
	}
	for _, c := range not.Commands {
		spec.Rules = append(spec.Rules, item.Rule{Tool: shellTool, Command: c, Decision: policy.Deny})
	}
	if _, err := policy.New(policy.Risky, spec.Rules); err != nil {
		return "", item.Errorf(item.KindInvalid, "BAD_AGENT", "not run: podd has no rule for the tools of the agent %s: %v", agent.Name, err)
	}
	missing := slices.DeleteFunc(slices.Concat(may.Tools, may.Limited, may.Unknown), func(name string) bool {
		return slices.ContainsFunc(spec.Tools, func(tool string) bool { return claude.HasTool([]string{name}, tool) })
	})
	if len(missing) == 0 {
		return "", nil
	}
	return "\n\n[You do not have these tools: " + strings.Join(missing, ", ") + "]", nil
}

// shellTool runs commands, jobTool types into them.
const (
	shellTool = "shell"
	jobTool   = "job"
)

// model gives a spec the model that an agent names, if the spec's endpoint has it. No file chooses another endpoint.
func (s *spawner) model(spec *item.PodSpec, name string) {
	settings := s.Host.Settings()
	has := settings.Router.Full(cmp.Or(spec.ModelRef(), settings.Model))
	lists := settings.Router.Endpoints[has.Endpoint].Lists
	if name == "" || lists == nil {
		return
	}
	model := listedModel(lists.Offered().Offers, name)
	if model != "" && model != has.Model { // The options of another model may not fit.
		spec.Endpoint, spec.Model, spec.Options = has.Endpoint, model, item.Options{}
	}
}

// listedModel is the model of this name in a list, or the first with it as a word, as haiku is in claude-haiku-4-5; empty without any.
func listedModel(offers []llm.Offer, name string) (found string) {
	for _, o := range offers {
		if o.Model == name {
			return name
		}
		if found == "" && slices.Contains(strings.Split(o.Model, "-"), name) {
			found = o.Model
		}
	}
	return found
}
