package daemon

import (
	"context"
	"path/filepath"
	"strings"

	"podd/internal/extend/mcp"
	"podd/internal/guard/trust"
	"podd/internal/workspace"
	"podd/internal/workspace/prompts"
	"podd/internal/workspace/skills"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// skillsDirs are where a user's skills are: beside the configuration, and where other agents
// look for them.
func skillsDirs(configPath, home string) (dirs []skills.Dir) {
	if dir := beside(configPath, "skills"); dir != "" {
		dirs = append(dirs, skills.Dir{Path: dir})
	}
	if home != "" {
		for _, dir := range []string{".agents/skills", ".claude/skills", ".claude/agents"} {
			dirs = append(dirs, skills.Dir{Path: filepath.Join(home, dir)})
		}
	}
	return dirs
}

// promptsDirs are where a user's prompts are: beside the configuration, and where other agents
// look for them.
func promptsDirs(configPath, home string) (dirs []string) {
	if dir := beside(configPath, "prompts"); dir != "" {
		dirs = append(dirs, dir)
	}
	if home != "" {
		dirs = append(dirs, filepath.Join(home, ".claude", "commands"), filepath.Join(home, ".codex", "prompts"))
	}
	return dirs
}

// beside is the path of a file beside the configuration; empty without a place for that.
func beside(configPath, name string) string {
	if configPath == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(configPath), name)
}

// skillsDirs are where the skills of all pods are.
func (d *Daemon) skillsDirs() []skills.Dir {
	dirs := skillsDirs(d.ConfigPath, homeDir())
	for _, p := range d.plugins.List() {
		if p.Reads {
			dirs = append(dirs, skills.Dir{Path: p.Dir, Plugin: p.Name})
		}
	}
	return dirs
}

// project is what a workspace's configuration adds, as far as it is trusted.
func (d *Daemon) project(dir string) workspace.Project {
	followed, says := d.trust.Follow(dir)
	p := workspace.Project{
		Instructions: followed.Instructions, Source: trust.ConfigFile, Rules: followed.Rules, Says: says,
	}
	servers, more := d.serversOf(followed.Servers)
	if more != "" {
		p.Says = strings.TrimPrefix(p.Says+"; "+more, "; ")
	}
	if len(servers) > 0 {
		p.Tools = func(ctx context.Context, start bool) []tool.Tool { return d.mcp.Tools(ctx, servers, dir, start) }
		p.Resource = func(ctx context.Context, server, uri string) (string, bool, error) {
			return d.mcp.Resource(ctx, servers, dir, server, uri)
		}
		d.prompts(&p, servers, dir)
	}
	return p
}

// prompts are those of MCP servers.
func (d *Daemon) prompts(p *workspace.Project, servers []mcp.Server, dir string) {
	p.Prompts = func() (list []pod.Prompt) {
		for _, one := range d.mcp.Prompts(servers, dir) {
			list = append(list, pod.Prompt{Name: one.Name, About: one.Description, Arguments: strings.Join(one.Arguments, " ")})
		}
		return list
	}
	p.Prompt = func(ctx context.Context, server, name string, arguments []string) (prompts.Expanded, bool, error) {
		return d.mcp.Prompt(ctx, servers, dir, server, name, arguments)
	}
}
