package checkout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// bring copies what the person has not committed: tracked and untracked files, not ignored ones, and
// not those that git stores through a filter, byte for byte.
func (all *Checkouts) bring(ctx context.Context, s source, to string) error {
	config, err := all.conversions(ctx, s.top, s.sees())
	if err != nil {
		return err
	}
	c := s.reading("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
	c.config = config
	if file := s.user["core.excludesfile"]; file != "" {
		c.args, c.person = append([]string{"-c", "core.excludesFile=" + file}, c.args...), true
		c.env = []string{"GIT_CONFIG_GLOBAL=" + os.DevNull}
	}
	out, err := all.git(ctx, c)
	if err != nil {
		return unusable(s.top, err)
	}
	from, err := os.OpenRoot(s.top)
	if err != nil {
		return err
	}
	defer from.Close()
	into, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer into.Close()
	var changed []string
	for _, entry := range fields(out) {
		if len(entry) > 3 && !strings.HasSuffix(entry, "/") { // A nested repository is not part of it.
			changed = append(changed, entry[3:])
		}
	}
	c = s.reading()
	c.config = config
	stay, err := all.filtered(ctx, c, changed)
	if err != nil {
		return err
	}
	for _, rel := range changed {
		if slices.Contains(stay, rel) {
			continue
		}
		if err := copyFile(from, into, rel); err != nil {
			return fmt.Errorf("%s cannot be brought along: %w", path.Join(s.top, rel), err)
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// copyFile gives a path in a new checkout what it has in the source.
func copyFile(from, into *os.Root, rel string) error {
	info, err := from.Lstat(rel)
	if err := into.RemoveAll(rel); err != nil {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink {
		return err
	}
	if dir := path.Dir(rel); dir != "." {
		if err := into.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	if info.Mode().Type() == fs.ModeSymlink {
		target, err := from.Readlink(rel)
		if err != nil {
			return err
		}
		return into.Symlink(target, rel)
	}
	old, err := from.Open(rel)
	if err != nil {
		return err
	}
	defer old.Close()
	file, err := into.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(file, old)
	return errors.Join(err, file.Chmod(info.Mode().Perm()), file.Close())
}
