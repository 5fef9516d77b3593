package daemon

import (
	"context"
	"path/filepath"
	"strings"

	"podd/internal/guard/trust"
	"podd/internal/workspace"
	"podd/pkg/tool"
)

// skillsDir is the directory of the user's skills, beside the configuration.
func skillsDir(configPath string) string {
	if configPath == "" {
		return ""
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(filepath.Dir(configPath), "skills"))
	if err != nil {
		return filepath.Join(filepath.Dir(configPath), "skills")
	}
	return dir
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
	}
	return p
}
