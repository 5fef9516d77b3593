package workspace

import (
	"cmp"
	"slices"
	"time"

	"podd/internal/guard/sandbox"
	"podd/internal/letters"
	"podd/internal/shell"
	"podd/internal/workspace/briefing"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/worker"
)

// told is podd's own text for the model, read at the beginning of a turn.
type told struct {
	// nothing says that the configuration disables podd's own text.
	nothing bool
	base    string
	head    briefing.Head
}

// gather reads podd's own text for the model. It may block.
func (w *Workspace) gather(s *Settings, files *scopefs.FS) (t told, err error) {
	setting := cmp.Or(w.rules.Load().spec.BaseInstructions, s.BaseInstructions)
	if setting == briefing.None {
		return told{nothing: true}, nil
	}
	if t.base, err = briefing.Base(setting); err != nil {
		return t, item.Errorf(item.KindPrecondition, "BASE_INSTRUCTIONS",
			"%v; fix the file, or choose another with podctl update %s --base-instructions or in config.toml", err, w.name)
	}
	t.head = briefing.HeadOf(files)
	return t, nil
}

// brief gives a worker podd's own text.
func (g *ground) brief(b *worker.Briefing) {
	if g.told.nothing {
		return
	}
	b.Base, b.Environment = g.told.base, g.environment().Text()
	jobs := g.workspace.all.jobs.Of(g.workspace.id)
	b.State = func(now time.Time) string { return briefing.State(now, g.told.head, jobs.Running()) }
}

// environment describes where the pod works.
func (g *ground) environment() briefing.Environment {
	spec, shell := g.dir.spec, g.workspace.all.Shell
	e := briefing.Environment{
		Dir: spec.Dir, Write: spec.Write, Read: spec.Read, Parent: g.dir.parent,
		Ask: cmp.Or(g.workspace.rules.Load().spec.Ask, g.settings.Ask),
	}
	if len(spec.Tools) == 0 || slices.Contains(spec.Tools, "shell") {
		e.Shell, e.Sandbox = shell.Program(), sandboxOf(shell, g.workspace.network())
	}
	e.Letters = g.workspace.all.Letters != nil && letters.Offered(spec, g.settings.Rules) && (len(spec.Tools) == 0 || slices.Contains(spec.Tools, letters.ToolName))
	return e
}

// sandboxOf is what commands run in. network says that they reach the network unasked.
func sandboxOf(s shell.Config, network bool) briefing.Sandbox {
	if s.Sandbox == nil {
		return briefing.Sandbox{Unasked: s.Confined}
	}
	fate := s.Sandbox.Fate()
	return briefing.Sandbox{
		Confines: fate == sandbox.Confined, Refused: fate == sandbox.Refuse, Unasked: fate == sandbox.Run,
		Network: network,
	}
}
