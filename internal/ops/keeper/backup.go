package keeper

import (
	"context"
	"io"
	"os"
)

// Backup writes a consistent copy of the open database to w. The copy is made first,
// so that a slow reader holds no transaction.
func (k *Keeper) Backup(ctx context.Context, w io.Writer) error {
	return k.withCopy(ctx, func(path string) error {
		f, err := os.Open(path)
		if err != nil {
			return stateError(path, err)
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
}

// BackupTo writes a consistent copy of the open database to a file, whole or not at
// all.
func (k *Keeper) BackupTo(ctx context.Context, path string) error { return k.store.CopyTo(ctx, path) }
