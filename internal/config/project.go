package config

import (
	"fmt"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

// Project is what the configuration of a workspace may say: what informs, and what
// narrows.
type Project struct {
	// Instructions are sent as the workspace's word.
	Instructions string
	// Rules have the decision ask or deny.
	Rules []item.Rule
	// Servers are its MCP servers; see ParseMCP.
	Servers []MCPServer
}

// MaxProjectInstructions is the most that a workspace's instructions may have, in
// bytes.
const MaxProjectInstructions = 32 << 10

// ParseProject reads the configuration of a workspace; path is how errors and rules
// name it. What such a file must not say is left out, with one sentence each in refused;
// what is no TOML says nothing at all.
func ParseProject(path string, text []byte) (p Project, refused []string) {
	assignments, wrong := parse(text)
	if wrong != nil {
		return Project{}, []string{fmt.Sprintf("%s:%d: this is no TOML: %s", path, wrong.line, wrong.message)}
	}
	l := newLoader()
	for _, a := range assignments {
		where := fmt.Sprintf("%s:%d", path, a.line)
		says := fmt.Sprintf("the configuration of a workspace cannot set %s: it has instructions and rules that ask or deny, and the rest belongs into your own configuration", keyText(a.key))
		if mayBeProjects(a.key) {
			says = l.assign(a, where)
		}
		if says != "" {
			refused = append(refused, where+": "+says)
		}
	}
	p.Instructions = l.config.Instructions
	if n := len(p.Instructions); n > MaxProjectInstructions {
		p.Instructions = ""
		refused = append(refused, fmt.Sprintf("%s: instructions has %d bytes, more than %d", path, n, MaxProjectInstructions))
	}
	for _, r := range l.rules {
		if says := unfitForProject(*r); says != "" {
			refused = append(refused, says)
			continue
		}
		p.Rules = append(p.Rules, *r)
	}
	return p, refused
}

// mayBeProjects says whether a workspace may set a key.
func mayBeProjects(key []string) bool {
	return key[0] == ruleList || len(key) == 1 && key[0] == "instructions"
}

// unfitForProject says why a workspace cannot have a rule; empty when it can.
func unfitForProject(r item.Rule) string {
	switch r.Decision {
	case policy.Ask, policy.Deny:
	case policy.Allow:
		return r.Source + ": a rule of a workspace cannot allow: write \"ask\" or \"deny\", or put the rule into your own configuration"
	default:
		return r.Source + ": the [[rule]] has no decision: set decision = \"ask\" or \"deny\""
	}
	if _, err := policy.New(policy.Risky, []item.Rule{r}); err != nil {
		return err.Error()
	}
	return ""
}
