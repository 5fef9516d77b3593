package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"podd/internal/ops/keeper"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newBackupCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Back up the store to a file",
		Long: "Writes a consistent copy of the store to FILE, which must not exist yet; if it fails, no FILE is left behind.\n" +
			"A running podd keeps working. The copy does not include the spool, the configuration or the client token.\n" +
			"To restore: stop podd, copy FILE to podd.db in the state directory, start podd. podd migrate\n" +
			"restores it to PostgreSQL. A PostgreSQL database is backed up by its own tools.",
		Args: oneArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if _, err := os.Lstat(to); err == nil {
				return item.Errorf(item.KindExists, "FILE_EXISTS", "%s already exists: choose another name", to)
			}
			err = p.keep(cmd.Context(), keepers{
				database: func(context.Context, keeper.DatabaseConfig) error { return keeper.ErrBackup },
				online:   func(ctx context.Context, c *client.Client) error { return receiveBackup(ctx, c, to) },
				offline: func(ctx context.Context, c keeper.Config) error {
					return withKeeper(ctx, c, func(k *keeper.Keeper) error { return k.BackupTo(ctx, to) })
				},
			})
			// The backup is written to a temporary file first.
			if failed, ok := errors.AsType[*fs.PathError](err); ok && failed.Path == to+".new" {
				return item.Errorf(item.KindPrecondition, "FILE_NOT_WRITABLE", "cannot write the backup %s: %v", args[0], failed.Err)
			}
			if err != nil {
				return err
			}
			info, err := os.Stat(to)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.stdout, "backed up the store to %s, %d bytes\n", to, info.Size())
			return err
		},
	}
}

// oneArg takes one argument.
func oneArg(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("give exactly one %s", name)}
		}
		return nil
	}
}

// receiveBackup writes the backup that podd sends to a temporary file, and renames it once
// it is complete.
func receiveBackup(ctx context.Context, c *client.Client, to string) (err error) {
	temp := to + ".new"
	// What has the name may be a link to another file, if others write in the directory.
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp)
		}
	}()
	err = copyBackup(ctx, c, f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, to)
}

func copyBackup(ctx context.Context, c *client.Client, w io.Writer) error {
	stream, err := c.Admin().Backup(ctx, &poddv1.BackupRequest{})
	if err != nil {
		return err
	}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := w.Write(resp.GetChunk()); err != nil {
			return err
		}
	}
}
