package files

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"podd/pkg/scopefs"
)

// asidesFile has the files that a restore lays beside their places until it has ended. Their names are
// new ones, which are random: in a directory where others write, a fixed name could
// be a link to another file, or be taken. After a kill nothing else tells whose they are.
const asidesFile = "restoring"

// besides begins such a name. It says to a person what the file is, and nothing to podd.
const besides = ".podd-restore-"

// aside is a file beside its place.
type aside struct {
	// Name is the one it has beside its place, which is that of the step.
	Name string
	// Step is what the restore does there. One without a path is only to be removed.
	Step Step
	// Merged is what a merge makes; zero without one.
	Merged plumbing.Hash
}

// rel is the path of the file.
func (a aside) rel() string { return path.Join(path.Dir(a.Step.Path), a.Name) }

// asides are those of one restore.
type asides struct {
	file *os.File
	held []func()
}

// newAsides notes names for the steps, and two more, which it returns first.
func (w *Workspace) newAsides(steps []Step) (a *asides, all []aside, err error) {
	all = make([]aside, len(steps)+2)
	for i := range all {
		all[i].Name = besides + rand.Text()
		if i >= 2 {
			all[i].Step = steps[i-2]
		}
	}
	file, err := os.OpenFile(filepath.Join(w.path, asidesFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	a = &asides{file: file}
	if err := a.note(all...); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	for _, one := range all {
		a.held = append(a.held, scopefs.Hold(one.Name))
	}
	return a, all, syncDir(w.path)
}

// note writes what is about to be done.
func (a *asides) note(all ...aside) error {
	var b bytes.Buffer
	for _, one := range all {
		if err := json.NewEncoder(&b).Encode(one); err != nil {
			return err
		}
	}
	if _, err := a.file.Write(b.Bytes()); err != nil {
		return err
	}
	return a.file.Sync()
}

// close ends the restore: with done, nothing is beside its place any more.
func (a *asides) close(done bool) error {
	for _, release := range a.held {
		release()
	}
	err := a.file.Close()
	if done {
		err = errors.Join(err, os.Remove(a.file.Name()))
	}
	return err
}

// asides are those that a killed restore may have left.
func (w *Workspace) asides() (all []aside, err error) {
	data, err := os.ReadFile(filepath.Join(w.path, asidesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	at := make(map[string]int)
	for in := json.NewDecoder(bytes.NewReader(data)); ; {
		var a aside
		if in.Decode(&a) != nil {
			return all, err // The last one may not be whole: then nothing was done with it.
		}
		if i, known := at[a.Name]; known {
			all[i] = a
			continue
		}
		at[a.Name] = len(all)
		all = append(all, a)
	}
}

// settleAll ends what a killed restore began.
func (w *Workspace) settleAll(root *os.Root) error {
	all, err := w.asides()
	if err != nil {
		return err
	}
	for _, a := range all {
		if err := w.settle(root, a); err != nil {
			return err
		}
	}
	return nil
}
