package skills

import (
	"errors"
	"fmt"
	"path/filepath"
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
	// Tools are those that it may have, in Claude Code's words; nil means all.
	Tools []string
	// User says that it is the user's own, not the workspace's.
	User bool
}

// addAgents adds the agents of a directory.
func (f *Found) addAgents(dir string, user bool) {
	entries, err := f.fs.ReadDir(dir)
	if err != nil {
		if e, ok := errors.AsType[*scopefs.PathError](err); !ok || e.Kind != scopefs.NotFound {
			f.leaveOut(agentWord, dir, err)
		}
		return
	}
	for _, entry := range entries[:min(len(entries), maxEntries)] {
		if !strings.HasSuffix(entry.Name(), ".md") {
			continue
		}
		file := filepath.Join(dir, entry.Name())
		if err := f.addAgent(file, user); err != nil {
			f.leaveOut(agentWord, file, err)
		}
	}
}

const agentWord = "agent"

func (f *Found) addAgent(file string, user bool) error {
	text, err := f.read(file)
	if err != nil {
		return err
	}
	h, body, err := parse(file, text)
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(f.Agents, func(a Agent) bool { return a.Name == h.name }):
		return fmt.Errorf("another one has its name %s", h.name)
	case len(f.Agents) == maxSkills:
		return fmt.Errorf("there are more than %d", maxSkills)
	}
	if h.model != "" && h.model != "inherit" {
		f.say(fmt.Sprintf("the agent %s has the model of its parent: podd does not know %q", h.name, h.model))
	}
	f.Agents = append(f.Agents, Agent{Name: h.name, Description: h.description, Instructions: body, Tools: h.tools, User: user})
	return nil
}
