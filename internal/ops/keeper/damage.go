package keeper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"podd/pkg/item"
	"podd/pkg/store"
)

// timeForm is the format of times in file names, which sort by it.
const timeForm = "20060102T150405Z"

// setAside moves a damaged database aside and says what to do.
func (c Config) setAside(why string) error {
	to := c.free(c.database() + ".damaged-" + c.Now().UTC().Format(timeForm))
	if err := os.Rename(c.database(), to); err != nil {
		return stateError(c.database(), err)
	}
	// The store's advice is for a file that stays where it is, so leave it out.
	why, _, _ = strings.Cut(strings.TrimSuffix(why, "."), "; nothing was changed")
	text := fmt.Sprintf("the database is damaged (%s) and was moved to %s; %s", why, to, c.advice())
	// Writing the note makes the new names durable too.
	err := writeFile(c.note(), text+"\n")
	_ = os.Remove(c.marker())
	if err != nil {
		return err
	}
	return item.Errorf(item.KindDataLoss, store.ReasonUnreadable, "%s", text)
}

// advice says how to start without the database.
func (c Config) advice() string {
	empty := fmt.Sprintf("to start with an empty store, remove %s", c.note())
	if newest := c.newest(); newest != "" {
		return fmt.Sprintf("to restore the newest snapshot, copy %s to %s; %s", newest, c.database(), empty)
	}
	return fmt.Sprintf("no snapshot exists; to restore a backup, copy it to %s; %s", c.database(), empty)
}

// offer adds the newest snapshot to an error about a file that was not moved.
func (c Config) offer(err error) error {
	newest := c.newest()
	e, ok := errors.AsType[*item.Error](err)
	if newest == "" || !ok {
		return err
	}
	with := *e
	with.Message += fmt.Sprintf("; the newest snapshot is %s", newest)
	return &with
}

// refuseAfterDamage keeps podd from starting with an empty store after its damaged database
// was moved aside.
func (c Config) refuseAfterDamage() error {
	if exists(c.database()) || !exists(c.note()) {
		return nil
	}
	text, err := os.ReadFile(c.note())
	if err != nil {
		return stateError(c.note(), err)
	}
	return item.Errorf(item.KindDataLoss, store.ReasonUnreadable, "%s", strings.TrimSpace(string(text)))
}

// free is a path that does not exist.
func (c Config) free(path string) string {
	for n, try := 1, path; ; n++ {
		if !exists(try) {
			return try
		}
		try = fmt.Sprintf("%s-%d", path, n)
	}
}

// writeFile writes a small file and makes it, and the names in its directory, durable.
func writeFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return stateError(path, err)
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return stateError(path, err)
	}
	return nil
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func stateError(path string, err error) error {
	cause := err
	if e, ok := errors.AsType[*os.PathError](err); ok {
		cause = e.Err
	}
	e := item.Errorf(item.KindPrecondition, store.ReasonCannotOpen, "cannot use %s: %v", path, cause)
	e.Cause = err
	return e
}
