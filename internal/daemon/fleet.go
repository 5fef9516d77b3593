package daemon

import (
	"context"
	"path/filepath"

	"podd/internal/fleet"
	"podd/internal/guard/sandbox"
	"podd/internal/ops/keeper"
	"podd/internal/server"
	"podd/pkg/item"
	"podd/pkg/paths"
)

// openDatabase opens the database, alone or as a node.
func openDatabase(ctx context.Context, d *Daemon) (*keeper.Database, error) {
	node, err := paths.EnsureNode(d.StateDir)
	if err != nil {
		return nil, err
	}
	c := DatabaseConfig(d.Config)
	c.Leaving, c.Node = d.leaving, node
	if d.Settings.Node.Listen == "" {
		return keeper.OpenDatabase(ctx, c)
	}
	f, err := openFleet(ctx, d)
	if err != nil {
		return nil, err
	}
	d.undo = append(d.undo, f.Close)
	c.Join = f.Node()
	db, err := keeper.OpenDatabase(ctx, c)
	if err != nil {
		return nil, err
	}
	f.Joined(db.Members())
	d.fleet = f
	return db, nil
}

// openFleet opens what this node needs. Only bwrap lets podd end all that a command started, which it has to do before
// another node goes on with a pod in a shared directory.
func openFleet(ctx context.Context, d *Daemon) (*fleet.Fleet, error) {
	n := d.Settings.Node
	if len(n.Shared) > 0 {
		if box := d.detected(); box.Mode() != sandbox.Bwrap {
			return nil, item.Errorf(item.KindPrecondition, "NODE_SHARED",
				"node.shared needs the sandbox bwrap, which here is %s: install bubblewrap, or remove node.shared (%s)", box.Mode(), box.Why())
		}
	}
	return fleet.Open(ctx, fleet.Config{
		Name: n.Name, Listen: n.Listen, TLS: [3]string(n.TLS), Shared: n.Shared, User: server.LocalUser(),
		StateDir: d.StateDir, SpoolDir: spoolDir(d.StateDir), ConfigFile: d.ConfigFile, Logger: d.Logger,
	})
}

// spoolDir has the output and the records of commands.
func spoolDir(stateDir string) string { return filepath.Join(stateDir, "spool") }
