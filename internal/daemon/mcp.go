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

// openMCP makes the manager of MCP servers, which ends with the daemon.
func (d *Daemon) openMCP(ctx context.Context) (err error) {
	d.mcp, err = mcp.New(ctx, mcp.Config{
		StateDir: d.StateDir,
		// Not even a server that gets the whole environment gets a key of podd's.
		Environ:     d.secrets.Environ(os.Environ()),
		Servers:     mcpServers{d}.of,
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
	for _, s := range project {
		if slices.ContainsFunc(servers, func(own mcp.Server) bool { return own.Name == s.Name }) {
			says = s.Origin + ": the MCP server " + s.Name + " is ignored: your own configuration has a server of this name"
			continue
		}
		servers = append(servers, s)
	}
	return servers, says
}

// mcpServers are the MCP servers of workspaces, for clients.
type mcpServers struct{ d *Daemon }

// of finds those of a workspace.
func (m mcpServers) of(dir string) []mcp.Server {
	followed, _ := m.d.trust.Follow(dir)
	servers, _ := m.d.serversOf(followed.Servers)
	return servers
}

// find is one of them.
func (m mcpServers) find(name, dir string) (mcp.Server, error) {
	var names []string
	for _, s := range m.of(dir) {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return mcp.Server{}, noServer(name, names)
}

// ListMCP shows the MCP servers of a workspace.
func (m mcpServers) ListMCP(dir string) []mcp.Look {
	var looks []mcp.Look
	for _, s := range m.of(dir) {
		looks = append(looks, m.d.mcp.Look(s, dir))
	}
	return looks
}

// TestMCP starts an MCP server of a workspace and ends it again.
func (m mcpServers) TestMCP(ctx context.Context, name, dir string) (mcp.Look, time.Duration, error) {
	s, err := m.find(name, dir)
	if err != nil {
		return mcp.Look{}, 0, err
	}
	return m.d.mcp.Test(ctx, s, dir)
}

// AcceptMCP accepts the tools of an MCP server as they are now.
func (m mcpServers) AcceptMCP(name, dir string) (int, error) {
	s, err := m.find(name, dir)
	if err != nil {
		return 0, err
	}
	return m.d.mcp.Accept(s, dir)
}

// LoginMCP signs in at an MCP server of a workspace.
func (m mcpServers) LoginMCP(ctx context.Context, name, dir string, port int, show func(address string) error) (mcp.Look, error) {
	s, err := m.find(name, dir)
	if err != nil {
		return mcp.Look{}, err
	}
	return m.d.mcp.Login(ctx, s, dir, port, show)
}

// AnswerMCP gives a login the address where the browser ended.
func (m mcpServers) AnswerMCP(address string) error { return m.d.mcp.Answer(address) }

// LogoutMCP forgets the tokens of an MCP server of a workspace, and revokes them.
func (m mcpServers) LogoutMCP(ctx context.Context, name, dir string) (was bool, warning string, err error) {
	s, err := m.find(name, dir)
	if err != nil {
		return false, "", err
	}
	return m.d.mcp.Logout(ctx, s, dir)
}

var _ server.MCP = mcpServers{}

// noServer is the error for an unknown name; it lists the known ones.
func noServer(name string, names []string) error {
	if len(names) == 0 {
		return item.Errorf(item.KindNotFound, "NO_MCP_SERVER", "there is no MCP server %q: neither config.toml nor a trusted .mcp.json of this directory defines one", name)
	}
	return item.Errorf(item.KindNotFound, "NO_MCP_SERVER", "there is no MCP server %q here: the servers are %s", name, strings.Join(names, ", "))
}
