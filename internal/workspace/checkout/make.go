package checkout

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/scopefs/git"
)

// Wanted says what a checkout is to be.
type Wanted struct {
	// Name is the pod's name, ID its id.
	Name, ID string
	// Dir is a directory of the person's repository.
	Dir string
	// Base is the commit to begin with; empty means the one that is checked out.
	Base string
	// Changes brings what the person has not committed.
	Changes bool
}

// makingName is where a checkout is before it is whole.
const makingName = ".making"

// Make makes a checkout. Until Keep it goes again when podd starts. Killed in between, it can be made
// again.
func (all *Checkouts) Make(ctx context.Context, w Wanted) (r *Record, err error) {
	dir, err := filepath.EvalSymlinks(w.Dir)
	if err != nil {
		return nil, item.Errorf(item.KindInvalid, "BAD_DIR", "the directory %q can't be opened: %v", w.Dir, err)
	}
	s, err := all.inspect(ctx, dir)
	if err != nil {
		return nil, err
	}
	head, err := all.commit(ctx, s, "HEAD")
	if err != nil && (w.Base == "" || w.Base == "HEAD" || w.Changes) {
		return nil, err
	}
	base := head
	if w.Base != "" {
		if base, err = all.commit(ctx, s, w.Base); err != nil {
			return nil, err
		}
	}
	if w.Changes && base != head {
		return nil, item.Errorf(item.KindInvalid, "BASE_WITH_CHANGES", "--with-changes brings changes of the commit that is checked out in %s, and %s is another: leave one of the two out", s.top, w.Base)
	}
	r = &Record{Name: w.Name, Pod: w.ID, Source: s.top, Common: s.common, Prefix: s.prefix, Base: base, Into: s.branch, Attributes: s.user["core.attributesfile"], place: filepath.Join(git.Resolve(all.Dir), w.Name)}
	defer all.lock(r)()
	if err := all.begin(r); err != nil {
		return nil, full(err)
	}
	if err := all.fill(ctx, s, r, w.Changes); err != nil {
		return nil, full(errors.Join(err, all.undo(context.WithoutCancel(ctx), r)))
	}
	return r, nil
}

// begin makes the directory of a new checkout, with its record: both or nothing.
func (all *Checkouts) begin(r *Record) (err error) {
	if err := os.MkdirAll(all.temp(), 0o700); err != nil {
		return err
	}
	place := r.place
	if r.place, err = os.MkdirTemp(all.temp(), "new-"); err != nil {
		return err
	}
	_ = syscall.Rmdir(place) // A killed podd may have left it empty.
	if err = r.save(); err == nil {
		err = os.Rename(r.place, place)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(r.place))
	}
	r.place = place
	if errors.Is(err, fs.ErrExist) { // Also if the directory is not empty.
		old, err := load(place)
		if err != nil {
			return item.Errorf(item.KindExists, "CHECKOUT_EXISTS", "podd has something in %s already: choose another name", place)
		}
		return item.Errorf(item.KindExists, "CHECKOUT_EXISTS", "the checkout of an earlier pod %s is still in %s: podctl delete %s --checkout removes it, or choose another name", r.Name, old.Dir(), old.Pod)
	}
	if err == nil {
		err = syncDir(all.Dir)
	}
	return err
}

// fill makes the repository of a record.
func (all *Checkouts) fill(ctx context.Context, s source, r *Record, changes bool) error {
	if err := all.pin(ctx, r); err != nil {
		return err
	}
	making, run, err := all.repository(ctx, s, r)
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"update-ref", "refs/heads/" + r.Branch(), r.Base}, {"reset", "--quiet", "--hard"}} {
		if err := run(args...); err != nil {
			return err
		}
	}
	if changes {
		if err := all.bring(ctx, s, making); err != nil {
			return err
		}
	}
	if info, err := os.Lstat(filepath.Join(making, r.Prefix)); err != nil || !info.IsDir() {
		return item.Errorf(item.KindInvalid, "BAD_DIR", "the directory %s does not exist in the commit %.12s: name another one, or --base", filepath.Join(s.top, r.Prefix), r.Base)
	}
	if err := os.Rename(making, r.Dir()); err != nil {
		return err
	}
	return syncDir(r.place)
}

// repository makes an empty repository that borrows objects, with the references of the source. run
// runs git there.
func (all *Checkouts) repository(ctx context.Context, s source, r *Record) (making string, run func(args ...string) error, err error) {
	making = filepath.Join(r.place, makingName)
	if err := os.Mkdir(making, 0o700); err != nil {
		return "", nil, err
	}
	sees := append(s.sees(), s.top)
	run = func(args ...string) error {
		_, err := all.git(ctx, command{dir: making, writes: true, reads: sees, args: args})
		return err
	}
	if err := run("init", "--quiet", "--template=", "--object-format="+s.format, "--initial-branch="+r.Branch(), "."); err != nil {
		return "", nil, err
	}
	if err := borrow(making, s); err != nil {
		return "", nil, err
	}
	if err := ownAttributes(making, s); err != nil {
		return "", nil, err
	}
	steps := [][]string{
		{"remote", "add", "origin", s.top},
		{"config", "remote.origin.tagOpt", "--no-tags"},
		{"fetch", "--quiet", "--no-write-fetch-head", "--no-tags", s.common, "+refs/heads/*:refs/remotes/origin/*", "refs/tags/*:refs/tags/*"},
	}
	for _, key := range slices.Sorted(maps.Keys(s.user)) {
		steps = append(steps, []string{"config", key, s.user[key]})
	}
	for _, args := range steps {
		if err := run(args...); err != nil {
			return "", nil, err
		}
	}
	return making, run, nil
}

// borrow lets a new repository use the objects of the source.
func borrow(making string, s source) error {
	info := filepath.Join(making, ".git", "objects", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(info, "alternates"), []byte(filepath.Join(s.common, "objects")+"\n"), 0o600); err != nil {
		return err
	}
	if !s.shallow {
		return nil
	}
	cut, err := s.file("shallow")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(making, ".git", "shallow"), cut, 0o600)
}

// pin keeps the base in the source, whatever becomes of its branches.
func (all *Checkouts) pin(ctx context.Context, r *Record) error {
	r.Next = r.Base
	if err := r.save(); err != nil {
		return err
	}
	_, err := all.git(ctx, r.changing("update-ref", "-m", "podd: checkout of pod "+r.Name, r.ref(), r.Base, strings.Repeat("0", len(r.Base))))
	if r.Next = ""; err == nil {
		r.Ref = r.Base
		return r.save()
	}
	if err := r.save(); err != nil {
		return err
	}
	if now, _ := all.pinned(ctx, r); now != "" {
		return item.Errorf(item.KindExists, "REF_EXISTS",
			"%s already has %s, with commits of an earlier pod: choose another name, or remove it with git -C %s update-ref -d %[2]s", r.Source, r.ref(), sanitize.Word(r.Source))
	}
	return unusable(r.Source, err)
}

// pinned is the reference in the source now; empty without one.
func (all *Checkouts) pinned(ctx context.Context, r *Record) (string, error) {
	out, err := all.git(ctx, command{dir: r.Common, reads: r.Reads(), args: []string{"--git-dir=.", "for-each-ref", "--format=%(objectname)", r.ref()}})
	return strings.TrimSpace(out), err
}

// changing is a run of git that changes the git directory of the source. It sees no checkout.
func (r *Record) changing(args ...string) command {
	return command{dir: r.Common, writes: true, reads: r.Reads()[1:], args: append([]string{"--git-dir=."}, args...)}
}

// reading is a run of git in the checkout that changes nothing.
func (r *Record) reading(args ...string) command {
	return command{dir: r.Dir(), reads: r.Reads(), args: args}
}

// undo removes what a failed or killed Make left.
func (all *Checkouts) undo(ctx context.Context, r *Record) error {
	var err error
	if now, e := all.pinned(ctx, r); e == nil && now == r.Base && (r.Ref == now || r.Next == now) {
		_, err = all.git(ctx, r.changing("update-ref", "-d", r.ref(), r.Base))
	}
	return errors.Join(err, removeAll(r.place))
}

// Keep says that the pod of a checkout exists.
func (all *Checkouts) Keep(r *Record) error {
	r.Made = true
	return full(r.save())
}

// Discard removes a checkout whose pod could not be made.
func (all *Checkouts) Discard(ctx context.Context, r *Record) error {
	defer all.lock(r)()
	return all.undo(ctx, r)
}

// removeAll removes a directory, also where a program has made directories read-only.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // podd's own, and about to go
		}
		return nil
	})
	return os.RemoveAll(dir)
}
