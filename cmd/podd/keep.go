package main

import (
	"context"
	"log/slog"
	"os"

	"podd/internal/daemon"
	"podd/internal/ops/keeper"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/paths"
)

// keepers are the ways to do something to the store.
type keepers struct {
	// online asks the running podd.
	online func(ctx context.Context, c *client.Client) error
	// offline works on the file.
	offline func(ctx context.Context, c keeper.Config) error
	// database works on a database.
	database func(ctx context.Context, c keeper.DatabaseConfig) error
}

// keep runs one of k: online if a podd holds the lock of the state directory, otherwise
// offline, holding the lock meanwhile.
func (p *program) keep(ctx context.Context, k keepers) error {
	c, err := p.daemonConfig()
	if err != nil {
		return err
	}
	c.Logger = slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if err := stateExists(c); err != nil {
		return err
	}
	lock, err := paths.LockStateDir(c.StateDir)
	if item.ReasonOf(err) == "HELD" {
		return p.keepOnline(ctx, c, k)
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	if c.Settings.Store.URL != "" {
		return k.database(ctx, daemon.DatabaseConfig(c))
	}
	return k.offline(ctx, daemon.KeeperConfig(c))
}

func stateExists(c daemon.Config) error {
	if _, err := os.Stat(c.StateDir); err != nil {
		return item.Errorf(item.KindNotFound, "NO_STATE", "the state directory %s does not exist: name the right one with --state-dir", c.StateDir)
	}
	return nil
}

func (p *program) keepOnline(ctx context.Context, c daemon.Config, k keepers) error {
	cl, err := client.New(client.Config{Socket: c.Socket, StateDir: c.StateDir, RetryFor: -1})
	if err != nil {
		return err
	}
	defer func() { _ = cl.Close() }()
	return k.online(ctx, cl)
}

// withKeeper opens the database of a podd that is not running.
func withKeeper(ctx context.Context, c keeper.Config, fn func(k *keeper.Keeper) error) (err error) {
	if err := keeper.MustExist(c); err != nil {
		return err
	}
	k, err := keeper.Open(ctx, c)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := k.Close(); err == nil {
			err = closeErr
		}
	}()
	return fn(k)
}
