package daemon

import (
	"context"
	"os"
	"slices"

	"podd/internal/extend/mcp"
	"podd/internal/server"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// openMCP makes the manager of MCP servers, which ends with the daemon.
func (d *Daemon) openMCP(ctx context.Context) (err error) {
	d.mcp, err = mcp.New(ctx, mcp.Config{
		StateDir: d.StateDir,
		// Not even a server that gets the whole environment gets a key of podd's.
		Environ:     d.secrets.Environ(os.Environ()),
		Servers:     d.mcpServers,
		SecretFiles: d.Settings.SecretFiles(),
		Secret:      d.secrets.Add,
		Redact:      d.secrets.Redact,
		Alert:       func(text string) { d.host.Alerts.Raise(item.LevelWarn, "mcp", text) },
		Logger:      d.Logger,
	})
	if err == nil {
		d.undo = append(d.undo, d.mcp.Close)
		d.trust.Changed = d.mcp.Keep
	}
	return err
}

// serversOf are the MCP servers of a workspace: the user's own, and the trusted ones of
// the workspace. says is one sentence about a workspace's server whose name one of the
// user's already has; empty otherwise.
func (d *Daemon) serversOf(project []mcp.Server) (servers []mcp.Server, says string) {
	servers = slices.Clone(d.loaded.Load().MCP)
	for _, p := range d.plugins.List() {
		for _, s := range p.Servers {
			if !slices.ContainsFunc(servers, func(own mcp.Server) bool { return own.Name == s.Name }) {
				servers = append(servers, s)
			}
		}
	}
	for _, s := range project {
		if slices.ContainsFunc(servers, func(own mcp.Server) bool { return own.Name == s.Name }) {
			says = s.Origin + ": the MCP server " + s.Name + " is ignored: your own configuration has a server of this name"
			continue
		}
		servers = append(servers, s)
	}
	return servers, says
}

// mcpServers are the MCP servers of a directory.
func (d *Daemon) mcpServers(dir string) []mcp.Server {
	followed, _ := d.trust.Follow(dir)
	servers, _ := d.serversOf(followed.Servers)
	return servers
}

// registerMCP serves McpService.
func (d *Daemon) registerMCP(g server.Registrar) {
	note := func(dir string) string {
		_, says := d.trust.Follow(dir)
		return says
	}
	d.mcp.Register(g, mcp.Service{DirOf: d.host.Workspace, Note: note, Visit: func(ctx context.Context, dir string, look func() (mcp.Place, error)) (mcp.Place, error) {
		return pod.Visit(ctx, d.host, dir, look)
	}})
}
