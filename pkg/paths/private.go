package paths

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"podd/pkg/item"
)

// EnsurePrivateDir creates a directory, with its parents, that only this user can enter
// (0700), or checks that an existing one is private. It never changes the mode of an
// existing directory: the user may have shared it on purpose.
func EnsurePrivateDir(dir string) error {
	link, err := made(dir)
	if err != nil {
		return err
	}
	// The owner of a link can point it elsewhere after the check.
	if uid := owner(link); link.Mode()&fs.ModeSymlink != 0 && uid != 0 && uid != os.Geteuid() {
		return anothers(dir, uid)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return unusable(dir, "cannot be read", err)
	}
	if uid := owner(info); uid != os.Geteuid() {
		return anothers(dir, uid)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return item.Errorf(item.KindPrecondition, "DIRECTORY_NOT_PRIVATE",
			"the directory %s is open to other users (mode %04o): choose another directory, or run chmod 700 on it if nobody else uses it", dir, mode)
	}
	return nil
}

// made makes a directory if it is not there. Others may make and remove it meanwhile, for which made tries again.
func made(dir string) (link fs.FileInfo, err error) {
	for range 100 {
		if err = os.MkdirAll(dir, 0o700); errors.Is(err, fs.ErrExist) {
			continue // It was there, and then it was not.
		}
		if err != nil {
			break
		}
		switch link, err = os.Lstat(dir); {
		case err == nil:
			return link, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, unusable(dir, "cannot be read", err)
		}
	}
	return nil, unusable(dir, "cannot be created", err)
}

func anothers(dir string, uid int) error {
	return item.Errorf(item.KindDenied, "DIRECTORY_NOT_OURS",
		"the directory %s belongs to another user (uid %d): choose a directory of your own", dir, uid)
}

func unusable(dir, what string, err error) error {
	kind, reason := item.KindPrecondition, "DIRECTORY_UNUSABLE"
	if errors.Is(err, syscall.ENOTDIR) {
		kind, reason = item.KindInvalid, "NOT_A_DIRECTORY"
	}
	e := item.Errorf(kind, reason, "the directory %s %s (%s): choose another one", dir, what, systemSays(err))
	e.Cause = err
	return e
}

// owner is the user id of a file's owner.
func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

// systemSays is the reason in an error of package os, without the operation and the path,
// which the sentence around it names.
func systemSays(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}
