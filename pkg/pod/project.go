package pod

import (
	"context"

	"podd/internal/instructions"
	"podd/internal/policy"
	"podd/internal/skills"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// Project is what the configuration of a workspace adds. It informs and narrows.
type Project struct {
	// Instructions are sent as the workspace's word, Source is the file that they are
	// from.
	Instructions, Source string
	// Rules ask or deny; their paths are those of the workspace.
	Rules []policy.Rule
	// Tools are those of other programs, in the order in which a model is sent them; nil
	// means none. With start, programs of which nothing is known yet are started. It
	// returns soon after ctx ends, with what there is.
	Tools func(ctx context.Context, start bool) []tool.Tool
	// Says tells a person in one sentence what of the configuration is not followed;
	// empty when that is nothing.
	Says string
}

// readProject follows what the configuration of the workspace says now: that of the pod
// at the top of a family, from where the paths of rules are named.
func (a *actor) readProject(ctx context.Context) error {
	if a.host.Project == nil {
		return nil
	}
	project := a.host.Project(a.rules.Load().base)
	rules, err := a.host.rulesOf(ctx, a.rec.Spec, project.Rules)
	if err != nil {
		return err
	}
	a.project = project
	a.rules.Store(rules)
	return nil
}

// tellProject raises an alert about what is not followed, once.
func (a *actor) tellProject() {
	if a.project.Says == a.told {
		return
	}
	a.told = a.project.Says
	if a.told != "" {
		a.raise(item.LevelWarn, "workspace", a.told)
	}
}

// saidBy is what a workspace says: its file of instructions, then its configuration, then
// its skills, and which skills are left out.
func saidBy(work *workspace, p Project, found skills.Found) func() (text string, warnings []string) {
	return func() (string, []string) {
		said := instructions.Read(work.fs)
		text := said.Text
		if p.Instructions != "" {
			text = joined(text, instructions.From(p.Source, p.Instructions))
		}
		text = joined(text, found.List(false))
		// The text has what there is to warn of, so that the same is told once.
		for _, note := range found.Notes {
			text = joined(text, "["+note+"]")
		}
		return text, append(said.Warnings, found.Notes...)
	}
}

// joined are two texts with an empty line between them; either may be empty.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
