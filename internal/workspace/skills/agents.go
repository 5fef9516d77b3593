package skills

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"podd/pkg/scopefs"
)

// agentsName is the name of directories with agents. Those of a workspace are in .claude.
const agentsName = "agents"

// Agent is a preset of sub-pods: a file as Claude Code has them.
type Agent struct {
	Name, Description string
	// Instructions are the text below the front matter.
	Instructions string
	// Tools are those that it may have, in Claude Code's words, Denied those that it may not; nil Tools mean all.
	Tools, Denied []string
	// Model is the model that it names; empty for that of the parent.
	Model string
	// User says that it is the user's own, not the workspace's.
	User bool
	// Plugin is the plugin that brings it, if one does.
	Plugin string
}

// addAgents adds the agents of a directory and of those in it.
func (f *Found) addAgents(dir Dir, user bool) {
	t := f.tree()
	err := t.walk(dir.Path, "", func(name, file string) {
		err := f.addAgent(t, file, dir.Plugin, user)
		if errors.Is(err, errMany) {
			t.files = maxFiles // This ends the walk.
		}
		if below := strings.Contains(name, ":"); err != nil && !(below && errors.Is(err, errNoFront)) { // There are texts for people below.
			f.leaveOut(agentWord, file, err)
		}
	})
	if e, ok := errors.AsType[*scopefs.PathError](err); err != nil && (!ok || e.Kind != scopefs.NotFound) {
		f.leaveOut(agentWord, dir.Path, err)
	}
}

const agentWord = "agent"

var errMany = fmt.Errorf("there are more than %d", maxSkills)

func (f *Found) addAgent(t *tree, file, plugin string, user bool) error {
	text, err := t.read(file)
	if err != nil {
		return err
	}
	h, body, err := parseWhole(text)
	limits := func(key string) bool { return slices.Contains([]string{"tools", "disallowedTools", "<<"}, key) }
	switch i := slices.IndexFunc(h.odd, limits); {
	case err != nil:
		return err
	case i >= 0:
		return fmt.Errorf("its %s is neither text nor a list of texts: write names with commas between them", h.odd[i])
	case slices.ContainsFunc(f.Agents, func(a Agent) bool { return a.Name == h.name }):
		return fmt.Errorf("another one has its name %s", h.name)
	case len(f.Agents) == maxSkills:
		return errMany
	}
	a := Agent{Name: h.name, Description: h.description, Instructions: body, User: user, Plugin: plugin}
	if a.Tools = words(h.values["tools"]); slices.Contains(a.Tools, "*") {
		a.Tools = nil
	}
	if model := h.one("model"); model != "inherit" {
		a.Model = model
	}
	a.Denied = words(h.values["disallowedTools"])
	f.Agents = append(f.Agents, a)
	return nil
}
