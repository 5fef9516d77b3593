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
	"podd/pkg/paths"
)

func newMigrateCommand(p *program) *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "migrate --to URL",
		Short: "Move the store to PostgreSQL",
		Long: "Copies the whole store to an empty PostgreSQL database. podd must not run. Afterwards no podd opens the file\n" +
			"any more; set store.url accordingly. There is no way back. If it is interrupted, the file stays as it is, and no podd\n" +
			"opens the database: run the command again.\n" +
			"With --from it copies that file, such as a backup, and leaves it as it is.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return usageError{fmt.Errorf("give the database to move to with --to")}
			}
			return p.migrate(cmd.Context(), from, to)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the URL of an empty PostgreSQL database")
	cmd.Flags().StringVar(&from, "from", "", "copy this file instead of podd's store")
	return cmd
}

func (p *program) migrate(ctx context.Context, from, to string) error {
	c, err := p.daemonConfig()
	if err != nil {
		return err
	}
	if err := config.CheckDatabase(to); err != nil {
		return usageError{fmt.Errorf("--to must be %w", err)}
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
	_, err = fmt.Fprintf(p.stdout, "%s\nset store.url to %q in the configuration, then start podd\n", done, to)
	return err
}
