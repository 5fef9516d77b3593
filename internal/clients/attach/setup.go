package attach

import (
	"path"
	"strings"

	"podd/internal/clients/cells"
	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// setup is what a pod's turns work with now: podd's own setting where the pod has none.
type setup struct {
	model, ask, dir, branch string
	network                 bool
	// sandbox is what commands run in; fate is how podd runs them.
	sandbox, fate string
}

// asks says when calls ask.
func (s setup) asks() string {
	switch s.ask {
	case "never":
		return "never asks"
	case "always":
		return "always asks"
	case "":
		return ""
	}
	return "asks if risky"
}

// commands says how commands run.
func (s setup) commands() string {
	switch s.fate {
	case "ask":
		return "no sandbox, so each command asks"
	case "refuse":
		return "no sandbox, so commands are refused"
	case "run":
		return "no sandbox: commands run as you do"
	case "":
		return ""
	}
	if s.network {
		return "commands run in " + s.sandbox + " with the network"
	}
	return "commands run in " + s.sandbox + " without the network"
}

// short is a directory as safe text, with ~ for the person's home.
func (c Config) short(dir string) string {
	if rest, ok := strings.CutPrefix(dir, path.Clean(c.Env("HOME"))+"/"); ok && !c.Remote {
		dir = "~/" + rest
	}
	return sanitize.Line(dir)
}

// behind puts the model, when calls ask, and the directory behind a text, as far as they have room. Of a long directory
// the end stays.
func (s setup) behind(text string, room int) string {
	for _, part := range []string{sanitize.Line(s.model), s.asks(), s.dir} {
		if part == s.dir && cells.Width(text+" · "+s.dir) > room {
			part = "…/" + path.Base(s.dir)
		}
		if part != "" && cells.Width(text+" · "+part) <= room {
			text += " · " + part
		}
	}
	return text
}

// facts are the settings in full.
func (s setup) facts() (list []string) {
	where := "directory " + s.dir
	if s.branch != "" {
		where += ", branch " + sanitize.Line(s.branch)
	}
	model := "podd chooses the model"
	if s.model != "" {
		model = "model " + sanitize.Line(s.model)
	}
	for _, fact := range []string{where, model, s.asks(), s.commands()} {
		if fact != "" {
			list = append(list, fact)
		}
	}
	return list
}

// introduce shows in the view of a pod that has done nothing what its turns work with.
func (a *app) introduce() {
	facts := a.setup.facts()
	a.log.notice(plain, facts[0])
	a.log.notice(plain, strings.Join(facts[1:], " · "))
	a.log.notice(dim, "Type a task and press Enter. @ names a file, / lists commands, ? shows help, Shift-Tab plans first.")
}

// learn notes what podd answers about the pod.
func (s *setup) learn(p *poddv1.GetPodResponse, c *poddv1.GetContextResponse, of *poddv1.GetStatusResponse, dir string) {
	s.dir = dir
	s.ask, s.branch, s.network = p.GetAsk(), p.GetBranch(), p.GetNetwork()
	s.model, s.sandbox, s.fate = c.GetModel(), of.GetSandbox(), of.GetShellCommands()
}
