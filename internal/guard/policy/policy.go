package policy

import (
	"fmt"
	"slices"

	"podd/pkg/item"
)

// Policy decides on calls.
type Policy struct {
	mode  string
	rules []*compiled
}

// New makes a Policy from a mode and rules, the operator's and the pod's own in any
// order. An error, of kind KindInvalid and reason RULE, names the rule by its Source, or
// by its position if it has none.
func New(mode string, rules []item.Rule) (*Policy, error) {
	switch mode {
	case Never, Risky, Always:
	default:
		return nil, item.Errorf(item.KindInvalid, "RULE", `there is no mode %s: write "never", "risky" or "always"`, quoted(mode))
	}
	p := &Policy{mode: mode}
	for i, r := range rules {
		what := r.Source
		if what == "" {
			what = fmt.Sprintf("rule %d", i+1)
		}
		c, err := compile(r, what)
		if err != nil {
			return nil, err
		}
		p.rules = append(p.rules, c)
	}
	return p, nil
}

// Call is a tool call in the form for a Policy.
type Call struct {
	Tool string
	// Command is the line that a shell will run; empty if the call runs none.
	Command string
	// Paths are the files and directories that the arguments name: relative to the workspace
	// if they are inside, otherwise absolute; with slashes between names. No rule can apply
	// to a path that leaves the workspace by "..".
	Paths []string
	// Leads has, for each of Paths, the other paths that it becomes when links are followed,
	// in the same form. It may be shorter: the missing ones lead to themselves. Rules see
	// them all.
	Leads [][]string
	// Host is the host that the call sends a request to, in lower case and with the port:
	// "go.dev:443"; empty if it sends none.
	Host string
	// Level is what of the machine the call asks for, Why what the model says it needs that
	// for, which is quoted to the person who is asked; empty for a call without levels.
	// Beyond says that Level is more than the pod has.
	Level  item.Access
	Why    string
	Beyond bool
	// Confined says that what the call does stays in the sandbox or in the scope.
	Confined bool
	// Protected says, in one sentence each, why the call needs approval in any mode.
	Protected []string
	// Note is half a sentence about the call from the tool's provider; it is quoted to the
	// person who is asked, and decides nothing.
	Note string
}

// Decide decides on one call.
func (p *Policy) Decide(c Call) Verdict {
	x := p.examine(c)
	if r := x.first(Deny, alike); r != nil {
		return Verdict{Deny, x.because("is denied by", r)}
	}
	if r := x.outside(); r != nil {
		return Verdict{Deny, x.because("is denied: it may run only what is named by", r)}
	}
	if len(c.Protected) > 0 {
		return p.ask(x.protected(), `to allow it, set ask to "risky" or "always" and approve it`)
	}
	if r := x.first(Ask, alike); r != nil {
		return p.ask(x.because("needs approval by", r), `to allow it, remove that rule, or set ask to "risky" or "always" and approve it`)
	}
	for _, d := range []string{Deny, Ask} {
		if r := x.first(d, perhaps); r != nil {
			return p.ask(x.doubt(r), `to allow it, write each command by itself in plain words, or set ask to "risky" or "always" and approve it`)
		}
	}
	if allowing := x.allowing(); allowing != "" {
		return Verdict{Allow, allowing}
	}
	return p.byMode(x)
}

// Against is the first rule that denies a call, or that asks about it, and its decision;
// Allow if there is no such rule. It is for accesses that are not calls of a model: the
// mode does not apply.
func (p *Policy) Against(c Call) (d, rule string) {
	x := p.examine(c)
	for _, d := range []string{Deny, Ask} {
		if r := x.first(d, perhaps); r != nil {
			return d, r.String()
		}
	}
	return Allow, ""
}

// byMode decides on a call without a rule.
func (p *Policy) byMode(x *examined) Verdict {
	switch {
	case p.mode == Always:
		return Verdict{Ask, x.name() + ` needs approval because this pod asks before every call` + x.unruled()}
	case x.call.Confined:
		return Verdict{Allow, x.name() + " is allowed because it stays in the sandbox or the scope and no rule forbids it."}
	}
	why := "it is not confined to the sandbox or the scope"
	if x.call.Host != "" {
		why = "it sends a request to " + quoted(shortHost(x.call.Host))
	}
	if x.call.Command != "" && x.call.Note != "" {
		why = phrase(x.call.Note)
	}
	if x.call.Beyond {
		why = leaving[x.call.Level]
	}
	return p.ask(x.name()+" needs approval because "+why+x.unruled(), x.wayToAllow())
}

// ask is the verdict on a call that a person must decide on; in mode never the call is
// denied. why is a sentence, way what to do about it there.
func (p *Policy) ask(why, way string) Verdict {
	if p.mode != Never {
		return Verdict{Ask, why}
	}
	return Verdict{Deny, why[:len(why)-1] + `, but podd does not ask because ask is "never": ` + way + "."}
}

// examined is a call with the matching rules for its tool.
type examined struct {
	call  Call
	rules []*compiled
	// paths are those that rules can apply to; unclear says that there are others.
	paths   []string
	unclear bool
	seen    *seen
	// like is how similar the call is to each rule against it.
	like map[*compiled]likeness
}

func (p *Policy) examine(c Call) *examined {
	x := &examined{call: c}
	for _, r := range p.rules {
		if r.forTool(c.Tool) && r.coversLevel(c) {
			x.rules = append(x.rules, r)
		}
	}
	for _, path := range c.allPaths() {
		cleaned, ok := callPath(path)
		if !ok {
			x.unclear = true
			continue
		}
		x.paths = append(x.paths, cleaned)
	}
	if c.Command != "" && slices.ContainsFunc(x.rules, func(r *compiled) bool { return r.command != nil && r.refuses() }) {
		x.seen = findCommands(c.Command)
	}
	x.like = make(map[*compiled]likeness, len(x.rules))
	for _, r := range x.rules {
		if r.refuses() {
			x.like[r] = x.likens(r)
		}
	}
	return x
}

// first is the first rule with a decision and that similarity to the call; nil without
// one.
func (x *examined) first(d string, least likeness) *compiled {
	for _, r := range x.rules {
		if r.Decision == d && x.like[r] >= least {
			return r
		}
	}
	return nil
}

// likens compares the call with a rule that denies or asks: one path, or one command, is
// enough.
func (x *examined) likens(r *compiled) likeness {
	like := alike
	if r.path != "" && !slices.ContainsFunc(x.paths, r.coversPath) {
		if !x.unclear {
			return unlike
		}
		like = perhaps
	}
	if r.host != "" && (x.call.Host == "" || !r.coversHost(x.call.Host)) {
		return unlike
	}
	if r.command == nil {
		return like
	}
	if x.call.Command == "" {
		return unlike
	}
	most := unlike
	if x.seen.hidden != nil || r.named(x.seen.text.String()) {
		most = perhaps
	}
	for _, e := range x.seen.commands {
		most = max(most, r.likens(e))
	}
	return min(like, most)
}
