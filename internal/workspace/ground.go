package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"podd/internal/extend/claude"
	"podd/internal/files"
	"podd/internal/sanitize"
	"podd/internal/workspace/instructions"
	"podd/internal/workspace/skills"
	"podd/pkg/pod"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// ground is what a turn is based on, as its workspace has it when the turn begins.
type ground struct {
	workspace *Workspace
	dir       *directory
	// settings are those of the turn.
	settings *Settings
	project  Project
	skills   skills.Found
	// said is what the workspace says, own what the person's own file says.
	said, own instructions.Found
	told      told
	// tools are the pod's own, once a worker has them.
	tools toolset
	// saver takes the checkpoints of the turn; nil without any.
	saver *files.Saver
}

// Look reads what a turn is based on. It may hang.
func (w *Workspace) Look() (pod.Ground, error) {
	dir, err := w.opened()
	if err != nil {
		return nil, err
	}
	files := w.toldBy(dir.fs)
	g := &ground{
		workspace: w, dir: dir, settings: w.all.settings(), skills: skills.Find(files, dir.skillsDirs...), said: instructions.Read(files, w.wider(dir)),
		own: instructions.ReadOwn(w.all.InstructionsFile, w.all.Home),
	}
	if g.told, err = w.gather(g.settings, files); err != nil {
		return nil, err
	}
	if w.all.Project != nil {
		g.project = w.all.Project(w.rules.Load().base)
	}
	return g, nil
}

// Follow applies the workspace's configuration; see [pod.Ground].
func (g *ground) Follow() (says string, err error) {
	return g.project.Says, g.workspace.follow(g.project)
}

// Use keeps the directory open during a turn.
func (g *ground) Use() (done func()) {
	left := g.workspace.use(g.dir)
	return func() {
		if g.saver != nil {
			if err := g.saver.Close(); err != nil {
				g.workspace.all.Logger.Warn("cannot keep the times of files; the next turn reads them again", "pod", g.workspace.id, "error", err)
			}
		}
		left()
	}
}

// Equip gives a worker the pod's own tools, and the workspace's instructions.
func (g *ground) Equip(c *worker.Config) (err error) {
	if g.tools, err = g.workspace.ownTools(g.settings, g.dir); err != nil {
		return err
	}
	g.tools.agents = g.skills.Agents
	c.Instructions = joined(joined(c.Instructions, g.settings.ToolOutput.Redact(g.own.Text)), g.skills.List(true))
	g.brief(&c.Briefing)
	c.Project, c.Spool, c.Files = g.says(g.workspace.followed()), g.dir.spool, g.dir.fs
	if stores := g.workspace.all.stores; stores != nil {
		g.saver = &files.Saver{Stores: stores, Pod: g.workspace.id, Dirs: files.Covered(g.dir.spec), Held: g.dir.fs.Held(), Leaving: g.workspace.all.leaving(g.dir.spec)}
		c.Checkpoints = g.saver
	}
	c.NoQuestions = g.workspace.asksNobody(g.settings, g.dir)
	c.Executes, c.Output, c.Boot = executed(g.dir.fs), g.settings.ToolOutput, g.workspace.all.boot
	c.Tools, err = g.tools.with(g.skill())
	return err
}

// Offered are the tools of an equipped worker, including those of other programs.
func (g *ground) Offered(ctx context.Context, start bool) (*tool.Registry, error) {
	foreign := g.workspace.followed().Tools
	if foreign == nil {
		return nil, nil
	}
	return g.tools.with(append(g.skill(), foreign(ctx, start)...))
}

// skill is the tool that returns skills; nil without skills.
func (g *ground) skill() []tool.Tool {
	if t := g.skills.Tool(); t != nil {
		return []tool.Tool{t}
	}
	return nil
}

// says is the workspace's text: its instructions, then its configuration, then its skills,
// and what is left out.
func (g *ground) says(p Project) func() (text string, warnings []string) {
	return func() (string, []string) {
		text := g.said.Text
		if p.Instructions != "" {
			text = joined(text, instructions.From(p.Source, p.Instructions))
		}
		text = joined(text, g.skills.List(false))
		// The text includes the warnings, so that an unchanged text warns only once.
		notes := slices.Concat(g.own.Warnings, g.skills.Notes, g.unknownTools())
		for _, note := range notes {
			text = joined(text, "["+note+"]")
		}
		return text, slices.Concat(g.said.Warnings, notes)
	}
}

// unknownTools is a sentence about tools of agents that podd does not have; empty if no agent can be at work.
func (g *ground) unknownTools() []string {
	var agents, tools []string
	for _, a := range g.skills.Agents {
		named := claude.Tools(slices.Concat(a.Tools, a.Denied))
		if left := append(named.Unknown, named.Limited...); len(left) > 0 {
			agents, tools = append(agents, a.Name), append(tools, left...)
		}
	}
	if g.tools.spawn == nil || len(agents) == 0 {
		return nil
	}
	slices.Sort(tools)
	return []string{fmt.Sprintf("podd lacks these tools of the agents %s, or cannot limit them: %s", strings.Join(agents, ", "), sanitize.Line(strings.Join(slices.Compact(tools), ", ")))}
}

// joined are two texts with an empty line between them; either may be empty.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
