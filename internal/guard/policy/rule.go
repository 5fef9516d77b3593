package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"podd/pkg/item"
)

// PodRules are a pod's own rules, named by their place: "the pod's rule 2".
func PodRules(rules []item.Rule) []item.Rule {
	own := slices.Clone(rules)
	for i := range own {
		own[i].Source = fmt.Sprintf("the pod's rule %d", i+1)
	}
	return own
}

// CheckGiven refuses rules that a client gives a pod with the decision only, but for those that the pod had before.
func CheckGiven(rules, before []item.Rule) error {
	for i, r := range rules {
		if r.Decision == Only && !slices.ContainsFunc(before, r.Equal) {
			return item.Errorf(item.KindInvalid, "RULE", "%s: "+noDecision, PodRules(rules)[i].Source, quoted(r.Decision))
		}
	}
	return nil
}

const noDecision = `there is no decision %s: write "allow", "ask" or "deny"`

// compiled is a rule that is ready to match.
type compiled struct {
	item.Rule
	path, host string
	// command has one element, or several for a line that is allowed as a whole.
	command []patternCommand
	// against is the command of a rule that denies or asks.
	against []patternWord
	// names is what a line that may run it names.
	names []*regexp.Regexp
}

// compile checks a rule. what is its Source, or its place in the list.
func compile(r item.Rule, what string) (*compiled, error) {
	wrong := func(format string, args ...any) error {
		return item.Errorf(item.KindInvalid, "RULE", "%s: %s", what, fmt.Sprintf(format, args...))
	}
	switch r.Decision {
	case Allow, Ask, Deny, Only:
	case "":
		return nil, wrong(`the rule has no decision: set "allow", "ask" or "deny"`)
	default:
		return nil, wrong(noDecision, quoted(r.Decision))
	}
	if r.Tool == "" && r.Path == "" && r.Command == "" && r.Host == "" && len(r.Access) == 0 {
		return nil, wrong("the rule names no tool, path, command, host or access: set at least one")
	}
	if strings.ContainsFunc(r.Tool, odd) || strings.ContainsAny(r.Tool, " \t\n") {
		return nil, wrong("the tool %s is not a name: leave out white space and control characters", quoted(r.Tool))
	}
	if err := compileLevels(r.Access); err != nil {
		return nil, wrong("%v", err)
	}
	r.Source = what
	c := &compiled{Rule: r}
	var err error
	if r.Path != "" {
		if c.path, err = compilePath(r.Path); err != nil {
			return nil, wrong("the path %s %v", quoted(r.Path), err)
		}
	}
	if r.Host != "" {
		if c.host, err = compileHost(r.Host); err != nil {
			return nil, wrong("the host %s %v", quoted(r.Host), err)
		}
	}
	if r.Command != "" {
		if c.command, err = compileCommand(r.Command, r.Decision); err != nil {
			return nil, wrong("the command %s %v", quoted(r.Command), err)
		}
		c.against = c.command[0].against()
		c.names = namesOf(c.against)
	}
	return c, nil
}

// refuses says that the rule is against what it matches.
func (c *compiled) refuses() bool { return c.Decision == Deny || c.Decision == Ask }

// forTool says whether a rule is for a tool.
func (c *compiled) forTool(tool string) bool {
	return c.Tool == "" || matchStars(strings.Split(c.Tool, "*"), tool)
}

// String is the rule as a verdict names it.
func (c *compiled) String() string {
	var parts []string
	for _, p := range []struct{ name, value string }{{"tool", c.Tool}, {"path", c.Path}, {"command", c.Command}, {"host", c.Host}, {"access", names(c.Access)}} {
		if p.value != "" {
			parts = append(parts, p.name+" "+quoted(p.value))
		}
	}
	return c.Source + " (" + strings.Join(parts, ", ") + ")"
}

// A Tool is a tool as far as rules care.
type Tool struct {
	Name string
	// Paths and Commands say whether its calls name paths, or run a command line.
	Paths, Commands bool
	// Hosts says whether its calls send a request to a host that they name.
	Hosts bool
	// Family says that Name is what the names of tools begin with that come and go.
	Family bool
}

// CheckTools is an error for the first rule that can match no call of the known
// tools: one that names a tool that there is not, a path for a tool without paths,
// or a command for a tool without commands.
func (p *Policy) CheckTools(known []Tool) error {
	for _, r := range p.rules {
		if wrong := r.unfit(known); wrong != "" {
			return item.Errorf(item.KindInvalid, "RULE", "%s: %s", r.Source, wrong)
		}
	}
	return nil
}

// unfit says why a rule can match no call; empty when it can.
func (c *compiled) unfit(known []Tool) string {
	var found, paths, commands, hosts bool
	var names []string
	for _, t := range known {
		if t.Family {
			names = append(names, t.Name+"*")
		} else {
			names = append(names, t.Name)
		}
		if c.forTool(t.Name) || t.Family && strings.HasPrefix(c.Tool, t.Name) {
			found = true
			paths = paths || t.Paths
			commands = commands || t.Commands
			hosts = hosts || t.Hosts
		}
	}
	switch {
	case !found:
		return fmt.Sprintf("there is no tool %s: the tools are %s", quoted(c.Tool), strings.Join(names, ", "))
	case c.Path != "" && !paths:
		return fmt.Sprintf("the rule has a path, and the calls of tool %s name none: leave path out", quoted(c.Tool))
	case c.Command != "" && !commands:
		return fmt.Sprintf("the rule has a command, and tool %s runs none: leave command out", quoted(c.Tool))
	case len(c.Access) > 0 && !commands:
		return fmt.Sprintf("the rule has access, and tool %s runs no command: leave access out", quoted(c.Tool))
	case c.Host != "" && !hosts:
		return fmt.Sprintf("the rule has a host, and the calls of tool %s name none: leave host out", quoted(c.Tool))
	}
	return ""
}
