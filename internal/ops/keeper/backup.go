package keeper

import (
	"context"
	"io"
	"os"
)

// Backup writes a consistent copy of the open database to w. It makes the copy first, so
// that a slow reader does not keep a transaction open.
func (k *Keeper) Backup(ctx context.Context, w io.Writer) error {
	return k.cfg.withCopy(k.copies(ctx), func(path string) error { return send(w, path) })
}

// send writes what a file has to w.
func send(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return stateError(path, err)
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// BackupTo writes a consistent copy of the open database to a file; if it fails, no file is
// left behind.
func (k *Keeper) BackupTo(ctx context.Context, path string) error { return k.store.CopyTo(ctx, path) }
