package pod

import (
	"context"
	"errors"
	"slices"
	"time"

	"podd/internal/workspace/instructions"
	"podd/internal/workspace/skills"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// ground is what a turn stands on, as its workspace has it when the turn begins.
type ground struct {
	work    *workspace
	project Project
	skills  skills.Found
	said    instructions.Found
	// own are the pod's own tools, once it has a worker.
	own toolset
}

// look reads what a turn stands on. It may hang.
func (a *actor) look(p place) (*ground, error) {
	told := toldBy(a, p.work.fs)
	g := &ground{work: p.work, skills: skills.Find(told, p.work.skillsDir), said: instructions.Read(told)}
	if a.host.Project != nil {
		g.project = a.host.Project(p.base)
	}
	return g, nil
}

// skill is the tool that gives the skills; none where there are no skills.
func (g *ground) skill() []tool.Tool {
	if t := g.skills.Tool(); t != nil {
		return []tool.Tool{t}
	}
	return nil
}

// says is what a workspace says: its file of instructions, then its configuration, then
// its skills, and which skills are left out.
func (g *ground) says(p Project) func() (text string, warnings []string) {
	return func() (string, []string) {
		text := g.said.Text
		if p.Instructions != "" {
			text = joined(text, instructions.From(p.Source, p.Instructions))
		}
		text = joined(text, g.skills.List(false))
		// The text has what there is to warn of, so that the same is told once.
		for _, note := range g.skills.Notes {
			text = joined(text, "["+note+"]")
		}
		return text, slices.Concat(g.said.Warnings, g.skills.Notes)
	}
}

// prepare makes the worker of a turn, in the turn's goroutine. A turn that is cancelled
// before its workspace has answered gets a worker that can only end it.
func (a *actor) prepare(ctx context.Context, t *turn, s *settings) (*worker.Worker, error) {
	g, err := a.awaitGround(t)
	if _, cancelled := errors.AsType[*worker.Cancelled](context.Cause(ctx)); cancelled {
		g, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	var w *worker.Worker
	doErr := a.do(context.WithoutCancel(ctx), func() { w, err = a.ready(t, s, g) })
	if doErr != nil {
		return nil, doErr
	}
	if err != nil || g == nil || g.project.Tools == nil {
		return w, err
	}
	// A program may take long to start.
	offered, err := g.own.with(append(g.skill(), g.project.Tools(ctx, true)...))
	if err != nil {
		return nil, err
	}
	w.Offer(offered)
	return w, nil
}

// awaitGround reads what a turn stands on, and lets the pod say so while the workspace does
// not answer.
func (a *actor) awaitGround(t *turn) (*ground, error) {
	var p place
	if err := a.do(t.waiting, func() { p = a.place() }); err != nil {
		return nil, err
	}
	answered := reach(t.waiting, a, a.lanes.turn, func() (*ground, error) {
		p, err := a.opened(p)
		if err != nil {
			return nil, err
		}
		return a.look(p)
	})
	late := time.NewTimer(silentAfter)
	defer late.Stop()
	for {
		select {
		case got := <-answered:
			return got.value, got.err
		case <-late.C:
			_ = a.do(t.waiting, func() { a.hold(silent(p.rec.Spec.Dir)) })
		case <-t.waiting.Done():
			return nil, context.Cause(t.waiting)
		}
	}
}

// ready lets a turn begin on its ground, which is nil for one that only ends. The pod may
// have been paused or rewound since the turn started to wait for its workspace.
func (a *actor) ready(t *turn, s *settings, g *ground) (*worker.Worker, error) {
	if t.number > 0 {
		due, ok := a.due()
		if !ok || due.Number != t.number {
			return nil, errNotDue
		}
		t.work = due
		for _, s := range due.Submits {
			a.taken[s.Seq] = true
		}
	}
	if g != nil {
		if err := a.follow(a.host.base, g.project); err != nil {
			return nil, err
		}
		a.tellProject()
	}
	if err := a.refold(s); err != nil {
		return nil, err
	}
	t.ending = g == nil && a.state.Turn.Open
	w, err := a.worker(s, g)
	if t.ending {
		w, err = a.ender(s)
	}
	if err != nil {
		return nil, err
	}
	t.begun, t.now, a.waited = true, a.state, false
	return w, nil
}
