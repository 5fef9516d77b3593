package scopefs

import "context"

// Remove is a batch of one removal.
func (f *FS) Remove(ctx context.Context, path string) error {
	return f.one(func(b *Batch) error { return b.Remove(ctx, path) })
}

// Rename is a batch of one rename.
func (f *FS) Rename(ctx context.Context, from, to string) error {
	return f.one(func(b *Batch) error { return b.Rename(ctx, from, to) })
}

func (f *FS) one(prepare func(*Batch) error) error {
	b := f.Batch()
	err := prepare(b)
	if err == nil {
		_, err = b.Commit()
	}
	if err != nil {
		_ = b.Close()
	}
	return err
}
