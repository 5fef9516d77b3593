package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"podd/internal/sanitize"
)

// checkOwner refuses a configuration file that another user can change: it names programs
// that podd starts outside of any sandbox. info is of the open file, with links followed.
func checkOwner(path string, info fs.FileInfo) error {
	if err := ownAlone("the configuration file "+path, path, info); err != nil || !info.Mode().IsRegular() {
		return err
	}
	// A user who may change a directory may put another file into it: check the directory of
	// the name and, for a link, that of its target.
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return unreadable(path, err)
	}
	for _, file := range []string{path, resolved} {
		dir := filepath.Dir(file)
		info, err := os.Stat(dir)
		if err != nil {
			return unreadable(path, err)
		}
		if err := ownAlone("the directory "+dir+" of the configuration file", dir, info); err != nil {
			return err
		}
	}
	return nil
}

// ownAlone says that a file belongs to this user or root, and that others can't change
// it.
func ownAlone(what, path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return bad("%s belongs to another user (uid %d): use one of your own, or run chown %d %s", what, stat.Uid, os.Geteuid(), sanitize.Word(path))
	}
	mode := info.Mode()
	// Only the owner can change a file in a directory like /tmp; a device contains nothing.
	if mode&(fs.ModeSticky|fs.ModeCharDevice) == 0 && mode.Perm()&0o022 != 0 {
		return bad("%s can be changed by other users (mode %04o): check what it says, then run chmod go-w %s", what, mode.Perm(), sanitize.Word(path))
	}
	return nil
}
