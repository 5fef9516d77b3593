package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"podd/internal/config"
	"podd/internal/ops/keeper"
	"podd/internal/paths"
)

func newMigrateCommand(p *program) *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "migrate --to URL|FILE",
		Short: "Move the store to PostgreSQL, or back to a file",
		Long: "Copies the whole store to an empty PostgreSQL database, or from there to a file that does not exist yet, and\n" +
			"compares the two. podd must not run. Afterwards no podd opens the old store any more; set store.url accordingly.\n" +
			"If it is interrupted, the old store stays as it is: run the command again.\n" +
			"With --from it copies that file, such as a backup, and leaves it as it is.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return usageError{fmt.Errorf("give the store to move to with --to")}
			}
			return p.migrate(cmd.Context(), from, to)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the URL of an empty PostgreSQL database, or a new file")
	cmd.Flags().StringVar(&from, "from", "", "copy this file instead of podd's store")
	return cmd
}

func (p *program) migrate(ctx context.Context, from, to string) error {
	c, err := p.daemonConfig()
	if err != nil {
		return err
	}
	if keeper.IsURL(to) {
		if err := config.CheckDatabase(to); err != nil {
			return usageError{fmt.Errorf("--to must be %w", err)}
		}
	}
	if err := stateExists(c); err != nil {
		return err
	}
	lock, err := paths.LockStateDir(c.StateDir)
	if err != nil {
		return err
	}
	defer lock.Release()
	m := keeper.Migration{
		From: cmp.Or(from, c.Settings.Store.URL, filepath.Join(c.StateDir, "podd.db")), To: to, Keep: from != "", Checker: c.Checker,
		Logger: slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	done, err := keeper.Migrate(ctx, m)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, done)
	switch file := filepath.Join(c.StateDir, "podd.db"); {
	case keeper.IsURL(to):
		_, err = fmt.Fprintf(p.stdout, "set store.url to %q in the configuration, then start podd\n", to)
	case done.To == file:
		_, err = fmt.Fprintln(p.stdout, "remove store.url from the configuration, then start podd")
	default:
		_, err = fmt.Fprintf(p.stdout, "move the file to %s, remove store.url from the configuration, then start podd\n", file)
	}
	return err
}
