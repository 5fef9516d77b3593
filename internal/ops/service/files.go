package service

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"podd/pkg/item"
)

// Change is what happened to a file.
type Change string

// The changes of a file.
const (
	Wrote     Change = "wrote"
	Replaced  Change = "replaced"
	Unchanged Change = "unchanged"
	Removed   Change = "removed"
)

// Changed is a file and what happened to it.
type Changed struct {
	Path   string
	Change Change
}

// write writes files atomically and says which have changed. If one of them exists and was
// not written by podd, write returns an error and touches none.
func write(files []File) ([]Changed, error) {
	var done []Changed
	for _, f := range files {
		change, err := compare(f)
		if err != nil {
			return nil, err
		}
		done = append(done, Changed{f.Path, change})
	}
	for i, f := range files {
		if done[i].Change == Unchanged {
			continue
		}
		if err := replace(f); err != nil {
			return nil, cannotWrite(f.Path, err)
		}
	}
	return done, nil
}

// compare says how writing a file would change it.
func compare(f File) (Change, error) {
	old, err := os.ReadFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Wrote, nil
	case err != nil:
		return "", cannotWrite(f.Path, err)
	case string(old) == f.Text:
		return Unchanged, nil
	case !bytes.Contains(old, []byte(marker)):
		return "", foreign(f.Path)
	}
	return Replaced, nil
}

func replace(f File) error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(f.Path), ".podd-*")
	if err != nil {
		return err
	}
	_, err = temp.WriteString(f.Text)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), f.Path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// remove removes files that podd has written; a missing file is not an error.
func remove(paths []string) ([]Changed, error) {
	var done []Changed
	for _, path := range paths {
		old, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && !bytes.Contains(old, []byte(marker)):
			return done, foreign(path)
		case err == nil:
			err = os.Remove(path)
		}
		if err != nil {
			return done, cannotWrite(path, err)
		}
		done = append(done, Changed{path, Removed})
	}
	return done, nil
}

func foreign(path string) error {
	return item.Errorf(item.KindPrecondition, "NOT_OURS", "podd service install did not write %s, so podd leaves it alone: move it away and try again", path)
}

func cannotWrite(path string, err error) error {
	e := item.Errorf(item.KindPrecondition, "SERVICE_FILE", "cannot change the service's file (%v): check its directory", err)
	e.Cause = err
	return e
}
