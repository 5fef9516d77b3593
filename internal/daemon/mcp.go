package daemon

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"podd/internal/extend/mcp"
	"podd/internal/server"
	"podd/pkg/item"
)

// openMCP makes what runs MCP servers, which end with the daemon.
func (d *Daemon) openMCP(ctx context.Context) (err error) {
	d.mcp, err = mcp.New(ctx, mcp.Config{
		StateDir: d.StateDir,
		// Not even a server that is to be given all gets a key of podd's.
		Environ:     d.secrets.Environ(os.Environ()),
		SecretFiles: d.Settings.SecretFiles(),
		Secret:      d.secrets.Add,
		Redact:      d.secrets.Redact,
		Alert:       func(text string) { d.host.Alerts.Raise(item.LevelWarn, "mcp", text) },
		Logger:      d.Logger,
	})
	if err == nil {
		d.undo = append(d.undo, d.mcp.Close)
	}
	return err
}

// serversOf are the MCP servers of a workspace: the user's own, and those that the
// workspace names as far as it is trusted. says is one sentence about a server of the
// workspace that the user has under the same name; empty when there is none.
func (d *Daemon) serversOf(project []mcp.Server) (servers []mcp.Server, says string) {
	servers = slices.Clone(d.loaded.Load().MCP)
	for _, s := range project {
		if slices.ContainsFunc(servers, func(own mcp.Server) bool { return own.Name == s.Name }) {
			says = s.Origin + ": the MCP server " + s.Name + " is left out, for your own configuration has one of this name"
			continue
		}
		servers = append(servers, s)
	}
	return servers, says
}

// servers finds the MCP servers of a workspace for people.
func (d *Daemon) servers(dir string) []mcp.Server {
	followed, _ := d.trust.Follow(dir)
	servers, _ := d.serversOf(followed.Servers)
	return servers
}

// mcpServer is one of them.
func (d *Daemon) mcpServer(name, dir string) (mcp.Server, error) {
	var names []string
	for _, s := range d.servers(dir) {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return mcp.Server{}, noServer(name, names)
}

// ListMCP shows the MCP servers of a workspace.
func (d *Daemon) ListMCP(dir string) []mcp.Look {
	var looks []mcp.Look
	for _, s := range d.servers(dir) {
		looks = append(looks, d.mcp.Look(s, dir))
	}
	return looks
}

// TestMCP starts an MCP server of a workspace and ends it again.
func (d *Daemon) TestMCP(ctx context.Context, name, dir string) (mcp.Look, time.Duration, error) {
	s, err := d.mcpServer(name, dir)
	if err != nil {
		return mcp.Look{}, 0, err
	}
	return d.mcp.Test(ctx, s, dir)
}

// AcceptMCP takes the tools of an MCP server as they are now.
func (d *Daemon) AcceptMCP(name, dir string) (int, error) {
	s, err := d.mcpServer(name, dir)
	if err != nil {
		return 0, err
	}
	return d.mcp.Accept(s, dir)
}

var _ server.MCP = (*Daemon)(nil)

// noServer says which servers there are instead of one that there is not.
func noServer(name string, names []string) error {
	if len(names) == 0 {
		return item.Errorf(item.KindNotFound, "NO_MCP_SERVER", "there is no MCP server %q here, nor any other: podd's configuration has none, nor has a trusted .mcp.json of this directory", name)
	}
	return item.Errorf(item.KindNotFound, "NO_MCP_SERVER", "there is no MCP server %q here: there are %s", name, strings.Join(names, ", "))
}
