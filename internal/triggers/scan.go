package triggers

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// found is what a look at the files of a trigger found.
type found struct {
	prints map[string]stamped
	// dirs are the directories that show whether something changed.
	dirs []string
}

func (f *found) digests() map[string]string {
	all := make(map[string]string, len(f.prints))
	for name, p := range f.prints {
		all[name] = p.digest
	}
	return all
}

// stamped is a file that was read, as it was then.
type stamped struct {
	inode            uint64
	size             int64
	changed, written int64
	digest           string
}

// scan looks at the files of a directory that match a pattern. known are those that an earlier look read.
func scan(ctx context.Context, dir, pattern string, known map[string]stamped) (f found, err error) {
	began := time.Now()
	f.prints = make(map[string]stamped)
	root, err := scopefs.Open(scopefs.Config{Dir: dir})
	if err != nil {
		return f, err
	}
	defer root.Close()
	f.dirs = way(dir, scopefs.GlobBase(pattern))
	names := 0
	err = root.GlobWalk(ctx, pattern, func(e scopefs.Entry) error {
		if e.IsDir() {
			f.dirs = append(f.dirs, filepath.Join(dir, e.Path))
		} else if e.Type.IsRegular() && !scopefs.Writing(path.Base(e.Path)) {
			if p, ok := look(root, e.Path, known, began); ok {
				f.prints[named(e.Path)] = p
				names += len(e.Path)
			}
		}
		if len(f.prints) > maxFiles || len(f.dirs) > maxDirs || names > maxNames {
			return item.Errorf(item.KindExhausted, "TOO_MANY_FILES", "%s matches too many files: at most %d, in %d directories: name fewer", scopefs.Display(pattern), maxFiles, maxDirs)
		}
		return nil
	})
	if p, ok := errors.AsType[*scopefs.PathError](err); ok {
		switch p.Kind {
		case scopefs.NotFound:
			return f, nil // No file matches.
		case scopefs.OutOfScope:
			return f, item.Errorf(item.KindPrecondition, "BAD_DIR", "%s is a link out of the pod's directory: put a directory in its place", scopefs.Display(p.Path))
		}
	}
	return f, err
}

// named is a path as JSON keeps it.
func named(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return strconv.QuoteToASCII(path)
}

// way are the directories from one down to the directory base in it, as far as they exist.
func way(dir, base string) []string {
	dirs := []string{dir}
	for _, name := range strings.Split(base, "/") {
		if dir = filepath.Join(dir, name); name == "." {
			continue
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			break
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// look reads a file, unless it is one that is known. It is false if that is not possible.
func look(root *scopefs.FS, name string, known map[string]stamped, began time.Time) (p stamped, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(filepath.Join(root.Dir(), name), &st) == nil {
		if was, ok := known[named(name)]; ok && was.same(&st) && began.UnixNano()-was.changed > int64(coarse) {
			return was, true
		}
	}
	file, info, err := root.Open(name)
	if err != nil {
		return p, false
	}
	defer file.Close()
	if unix.Fstat(int(file.Fd()), &st) != nil {
		return p, false
	}
	h := sha256.New()
	fmt.Fprintln(h, st.Size)
	if st.Size > maxRead {
		fmt.Fprintln(h, info.ModTime().UnixNano())
	} else if _, err := io.Copy(h, io.LimitReader(file, maxRead)); err != nil {
		return p, false
	}
	return stamped{st.Ino, st.Size, st.Ctim.Nano(), st.Mtim.Nano(), base64.RawStdEncoding.EncodeToString(h.Sum(nil)[:12])}, true
}

// same says that a file is the one that was read.
func (p *stamped) same(st *unix.Stat_t) bool {
	return p.inode == st.Ino && p.size == st.Size && p.changed == st.Ctim.Nano() && p.written == st.Mtim.Nano()
}
