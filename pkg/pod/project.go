package pod

import (
	"context"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// Project is what the configuration of a workspace adds. It informs and narrows.
type Project struct {
	// Instructions are sent as the workspace's word, Source is the file that they are
	// from.
	Instructions, Source string
	// Rules ask or deny; their paths are those of the workspace.
	Rules []item.Rule
	// Tools are those of other programs, in the order in which a model is sent them; nil
	// means none. With start, programs of which nothing is known yet are started. It
	// returns soon after ctx ends, with what there is.
	Tools func(ctx context.Context, start bool) []tool.Tool
	// Says tells a person in one sentence what of the configuration is not followed;
	// empty when that is nothing.
	Says string
}

// follow lets what the configuration of the workspace says count from now on: that of the
// pod at the top of a family, from where the paths of rules are named.
func (a *actor) follow(ctx context.Context, p Project) error {
	rules, err := a.host.rulesOf(ctx, a.rec.Spec, p.Rules)
	if err != nil {
		return err
	}
	a.project = p
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

// joined are two texts with an empty line between them; either may be empty.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
