package sandbox

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"podd/pkg/scopefs/git"
)

const (
	// maxKeptFile and maxKeptBelow bound the bytes of a file that is put back, and of one in a directory;
	// maxKeptFiles how many names a directory has.
	maxKeptFile  = 1 << 20
	maxKeptBelow = 64 << 10
	maxKeptFiles = 512
	// maxKeptAll bounds the bytes of all files that are put back, maxKeptNames and maxKeptDeep the names in a kept one.
	maxKeptAll   = 8 << 20
	maxKeptNames = 4096
	maxKeptDeep  = 16
	// maxBack is how often one path is put back before its command is ended.
	maxBack = 20
)

// keep keeps a path that no mount can protect.
func (g *Guard) keep(path string) {
	root, rel, ok := g.rootOf(path)
	if !ok || rel == "" {
		return
	}
	i := slices.IndexFunc(g.kept, func(k *KeptDir) bool { return !k.Git && k.Root == root.path })
	if i < 0 {
		g.keepIn(root, ".", false, []string{rel})
		return
	}
	if k := g.kept[i]; !slices.Contains(k.Names, rel) {
		k.Names = append(k.Names, rel)
		g.look(root, k, rel)
	}
}

// keeps says whether a path is one of those.
func (g *Guard) keeps(path string) bool {
	return slices.ContainsFunc(g.kept, func(k *KeptDir) bool {
		rel, below := strings.CutPrefix(path, k.Root+"/")
		return !k.Git && below && slices.Contains(k.Names, rel)
	})
}

// keepIn keeps names in a directory that can be opened.
func (g *Guard) keepIn(root *guardedRoot, rel string, isGit bool, names []string) {
	k := &KeptDir{Root: root.path, Path: []byte(rel), Git: isGit, Names: names, Files: map[string]KeptFile{}, good: map[string][]byte{}}
	dir, err := place{root: root, rel: rel}.open(false)
	if err != nil {
		return
	}
	defer dir.Close()
	k.Born = born(dir)
	if k.Dev, k.Ino, err = identity(dir); err != nil || isGit && g.keptGit(k.Dev, k.Ino, k.Born) != nil {
		return
	}
	g.kept = append(g.kept, k)
	for _, name := range names {
		g.look(root, k, name)
	}
	if isGit {
		k.Exec = execsIn(dir)
		g.watcher.addGit(filepath.Join(root.path, rel), dir)
	}
}

// keptGit is the kept git directory with an identity; nil without it.
func (g *Guard) keptGit(dev, ino uint64, born int64) *KeptDir {
	i := slices.IndexFunc(g.kept, func(k *KeptDir) bool { return k.Git && k.Dev == dev && k.Ino == ino && k.Born == born })
	if i < 0 {
		return nil
	}
	return g.kept[i]
}

// born is when a file was made; 0 if that is not known.
func born(file *os.File) int64 {
	var stat unix.Statx_t
	if unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &stat) != nil || stat.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return stat.Btime.Sec*1e9 + int64(stat.Btime.Nsec)
}

// look adds what is at a name of a kept directory.
func (g *Guard) look(root *guardedRoot, k *KeptDir, name string) {
	dir, err := place{root: root, rel: string(k.Path)}.open(false)
	if err != nil {
		return
	}
	defer dir.Close()
	s := snapshot{files: k.Files, skips: g.holds(filepath.Join(root.path, string(k.Path))), room: g.room}
	s.add(dir, name, name)
	g.room = s.room
}

// holds says which paths in a directory a mount protects.
func (g *Guard) holds(dir string) func(rel string) bool {
	return func(rel string) bool { return slices.Contains(g.hold, filepath.Join(dir, rel)) }
}

// snapshot reads what is in a directory.
type snapshot struct {
	files map[string]KeptFile
	skips func(rel string) bool
	// was is what is compared with, which is read whatever the room is.
	was map[string]KeptFile
	// grows says that a longer file may be the same one.
	grows bool
	// room is how many bytes may be read, names how many names of directories there were.
	room  int64
	names int
}

// add adds a name of an open directory, whose path from the beginning is rel, and all that is in it.
func (s *snapshot) add(dir *os.File, name, rel string) {
	if s.skips(rel) {
		return
	}
	// A name may lie some directories below: info/attributes.
	for before, after, deeper := strings.Cut(name, "/"); deeper; before, after, deeper = strings.Cut(name, "/") {
		next, err := reopen(dir, before, false)
		if err != nil {
			if link, isLink := readLink(dir, before); isLink {
				s.files[strings.TrimSuffix(rel, "/"+after)] = KeptFile{Link: link}
			}
			return
		}
		defer next.Close()
		dir, name = next, after
	}
	s.one(dir, name, rel, maxKeptFile)
}

// one adds a name of an open directory, unless it goes meanwhile. Of a file that is larger it adds when that changed.
func (s *snapshot) one(dir *os.File, name, rel string, most int64) {
	var stat unix.Stat_t
	if s.skips(rel) || unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return
	}
	file := KeptFile{Mode: stat.Mode & 0o7777}
	var err error
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		err = s.dir(dir, name, rel, &file)
	case unix.S_IFLNK:
		var isLink bool
		if file.Link, isLink = readLink(dir, name); !isLink {
			err = unix.ENOENT
		}
	case unix.S_IFREG:
		file.Text, err = s.text(dir, name, rel, most)
	default:
		err = errTooLarge
	}
	if errors.Is(err, unix.ENOENT) {
		return
	}
	if err != nil {
		file.Large = stat.Ctim.Nano()
	}
	s.files[rel] = file
}

// dir adds what is in a directory. An error says why that is not all.
func (s *snapshot) dir(dir *os.File, name, rel string, file *KeptFile) error {
	file.Dir = true
	names, err := s.list(dir, name, strings.Count(rel, "/"))
	if err != nil {
		return err
	}
	sub, err := reopen(dir, name, false)
	if err != nil {
		return err
	}
	defer sub.Close()
	for _, name := range names {
		s.one(sub, name, rel+"/"+name, maxKeptBelow)
	}
	return nil
}

// text is that of a regular file, of at most so many bytes.
func (s *snapshot) text(dir *os.File, name, rel string, most int64) ([]byte, error) {
	was, had := s.was[rel]
	switch {
	case had && was.Large != 0:
		most = -1
	case !had || !was.regular():
		most = min(most, s.room)
	case most == maxKeptBelow && s.grows:
		most = min(most, int64(len(was.Text))+s.room)
	case most == maxKeptBelow:
		most = int64(len(was.Text)) // A longer one differs.
	}
	text, err := readIn(dir, name, most)
	if err == nil && (!had || s.grows) {
		s.room -= max(int64(len(text)-len(was.Text)), 0)
	}
	return text, err
}

// list are the names in a directory that lies so deep; an error if there are too many to be put back.
func (s *snapshot) list(dir *os.File, name string, deep int) ([]string, error) {
	sub, err := reopen(dir, name, false)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	names, err := sub.Readdirnames(maxKeptFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if s.names += len(names); len(names) > maxKeptFiles || s.names > maxKeptNames || deep > maxKeptDeep {
		return nil, errTooLarge
	}
	slices.Sort(names)
	return names, nil
}

// readIn reads a regular file of a directory, of at most so many bytes.
func readIn(dir *os.File, name string, most int64) ([]byte, error) {
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, unix.EINVAL) // Reading a pipe would block.
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, errTooLarge
	}
	return text, err
}

// same says whether two are the same, as far as programs obey it.
func (f KeptFile) same(other KeptFile) bool {
	return f.Dir == other.Dir && f.Link == other.Link && f.Large == other.Large && bytes.Equal(f.Text, other.Text) && (f.Mode^other.Mode)&0o111 == 0
}

// regular says whether it is a file that was read.
func (f KeptFile) regular() bool { return !f.Dir && f.Link == "" && f.Large == 0 }

// compareAll puts back what differs from what was kept, and at the end of a command also what is gone.
func (g *Guard) compareAll(end bool) {
	for _, k := range slices.Clone(g.kept) {
		if root := g.rootAt(k.Root); root != nil && !k.Git {
			g.compare(root, string(k.Path), k, end)
		}
	}
	for _, path := range g.gitDirs() {
		g.compareGit(path, true, end)
	}
}

func (g *Guard) rootAt(path string) *guardedRoot {
	i := slices.IndexFunc(g.roots, func(r *guardedRoot) bool { return r.path == path })
	if i < 0 {
		return nil
	}
	return g.roots[i]
}

// compare puts back what differs in one directory; what is gone only at the end of the command, which may be removing
// all of it.
func (g *Guard) compare(root *guardedRoot, rel string, k *KeptDir, end bool) {
	dir, err := place{root: root, rel: rel}.open(true)
	if err != nil {
		return
	}
	defer dir.Close()
	at := filepath.Join(root.path, rel)
	s := snapshot{files: map[string]KeptFile{}, skips: g.holds(at), was: k.Files, grows: g.young(k), room: maxKeptAll}
	for _, name := range k.Names {
		s.add(dir, name, name)
	}
	all := slices.Collect(maps.Keys(k.Files))
	all = slices.AppendSeq(all, maps.Keys(s.files))
	slices.Sort(all)
	var gone []string
	for _, path := range slices.Compact(all) {
		was, had := k.Files[path]
		is, has := s.files[path]
		switch {
		case g.lets(filepath.Join(at, path)), had == has && was.same(is), !has && !end:
		case slices.ContainsFunc(gone, func(dir string) bool { return within(dir, path) }):
		case k.Git && g.settles(dir, at, path, k, is, has), has && (!had || g.goesOn(k, was, is)) && k.Git && g.maybe(at, path, is, k.made):
		case has && k.Git && path == "gitdir" && g.follows(at, is, end):
		case filepath.Base(path) == gitDir && g.leads(filepath.Join(at, path), has):
		default:
			if g.putBack(dir, at, path, was, had, is, has) {
				gone = append(gone, path) // With all that is in it.
			}
			// One that is too large is named once.
			if m := g.moved[filepath.Join(at, path)]; has && m != nil && errors.Is(m.Err, errTooLarge) {
				k.Files[path] = is
			}
		}
	}
}

// makingTime is for how long after a git directory was made another command may still be making it.
const makingTime = time.Minute

// young says whether another command may have been making a git directory when this one began.
func (g *Guard) young(k *KeptDir) bool {
	return k.Git && k.Born > g.began.Add(-makingTime).UnixNano()
}

// goesOn says whether a file of a young git directory may be one whose beginning was there.
func (g *Guard) goesOn(k *KeptDir, was, is KeptFile) bool {
	return g.young(k) && was.regular() && is.regular() && bytes.HasPrefix(is.Text, was.Text)
}

// putBack makes one path what it was. It says whether it moved away a directory.
func (g *Guard) putBack(dir *os.File, at, path string, was KeptFile, had bool, is KeptFile, has bool) (moved bool) {
	full := filepath.Join(at, path)
	parent, name := filepath.Split(path)
	for step := range strings.SplitSeq(strings.TrimSuffix(parent, "/"), "/") {
		if step == "" {
			break
		}
		if had {
			_ = unix.Mkdirat(int(dir.Fd()), step, 0o755)
		}
		sub, err := reopen(dir, step, true)
		if err != nil {
			return false
		}
		defer sub.Close()
		dir = sub
	}
	why := ofGit
	if root, rel, ok := g.rootOf(full); ok {
		if _, said, err := unit(root.prefix, rel); err == nil && said != "" {
			why = said
		}
	}
	if !had {
		g.undo(dir, full, name, why)
		return is.Dir
	}
	moves := has && was.Large == 0 && !is.Dir || is.Dir != was.Dir
	if moves {
		g.undo(dir, full, name, why) // It may be the person's.
	}
	m := g.moved[full]
	if !moves || m == nil {
		m = g.note(full, why)
	}
	m.Back = true
	if m.Err = restore(dir, name, was); m.Err != nil {
		g.log.Error("a protected path that a command changed cannot be put back", "path", full, "error", m.Err)
	}
	return false
}

// restore makes a name of a directory what it was.
func restore(dir *os.File, name string, was KeptFile) error {
	at := int(dir.Fd())
	switch {
	case was.Large != 0:
		return errTooLarge
	case was.Dir:
		if err := unix.Mkdirat(at, name, was.Mode); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
		return nil
	}
	temp, err := beside(at, was)
	if err != nil {
		return err
	}
	if err := unix.Renameat(at, temp, at, name); err != nil {
		_ = unix.Unlinkat(at, temp, 0)
		return err
	}
	return nil
}

// beside writes a file or a link under a new temporary name in the directory.
func beside(at int, was KeptFile) (temp string, err error) {
	temp = asidePrefix + rand.Text()[:12]
	if was.Link != "" {
		return temp, unix.Symlinkat(was.Link, at, temp)
	}
	fd, err := unix.Openat(at, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, was.Mode)
	if err != nil {
		return temp, err
	}
	file := os.NewFile(uintptr(fd), temp)
	_, err = file.Write(was.Text)
	if err = errors.Join(err, file.Chmod(os.FileMode(was.Mode&0o777)), file.Close()); err != nil {
		_ = unix.Unlinkat(at, temp, 0)
	}
	return temp, err
}

// errBusy says that a git holds the lock of a configuration, errChanged that the file has another text than the one
// which was read.
var (
	errBusy    = errors.New("git is writing it")
	errChanged = errors.New("it has changed meanwhile")
)

// exchange replaces the text read of a file, and returns the text that it did replace: another one if git wrote
// the file at that moment, and nil if the file system cannot exchange files.
func exchange(dir *os.File, name string, read []byte, file KeptFile, waits bool) (replaced []byte, err error) {
	at := int(dir.Fd())
	temp, err := beside(at, file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Unlinkat(at, temp, 0) }()
	var stat unix.Stat_t
	if waits && unix.Fstatat(at, name+".lock", &stat, unix.AT_SYMLINK_NOFOLLOW) == nil {
		return nil, errBusy
	}
	if now, err := readIn(dir, name, maxKeptFile); err == nil && !bytes.Equal(now, read) {
		return now, errChanged
	}
	if unix.Renameat2(at, temp, at, name, unix.RENAME_EXCHANGE) != nil {
		return nil, unix.Renameat(at, temp, at, name)
	}
	replaced, _ = readIn(dir, temp, maxKeptFile)
	return replaced, nil
}

// maxMend is how often a configuration is mended that changes meanwhile.
const maxMend = 20

// settles says whether a path is a configuration of git's, whose harmless changes it accepts and whose others it
// takes back. What git writes at the same moment is not lost; podd takes no lock, which would make that git fail.
func (g *Guard) settles(dir *os.File, at, path string, k *KeptDir, is KeptFile, has bool) bool {
	was, had := k.Files[path]
	if path != "config" && path != "config.worktree" || !was.regular() || !is.regular() {
		return false
	}
	if !has {
		return path == "config.worktree" && len(was.Text) == 0
	}
	mended, bad := git.Mend(string(was.Text), string(is.Text), g.treeOf(at, k))
	switch {
	case !had && mended == "":
		return len(bad) == 0 // One that is being written is not there yet.
	case len(bad) == 0:
		k.good[path] = is.Text
		return true
	}
	var err error
	all, read := bad, is.Text
	for try := range maxMend {
		if good, ok := k.good[path]; ok && len(bad) > 0 && mended == string(was.Text) {
			mended = string(good) // Harmless changes since the beginning stay.
		}
		var text []byte
		text, err = exchange(dir, path, read, KeptFile{Mode: is.Mode, Text: []byte(mended)}, k.waits && try == 0)
		switch {
		case errors.Is(err, errBusy):
			return true // An event follows when that git has written it.
		case errors.Is(err, errChanged):
			read = text
		case err == nil && text != nil && !bytes.Equal(text, read):
			read, err = []byte(mended), errChanged
		}
		if !errors.Is(err, errChanged) {
			break
		}
		mended, bad = git.Mend(string(was.Text), string(text), g.treeOf(at, k))
		all = append(all, bad...)
	}
	m := g.note(filepath.Join(at, path), "git obeys it")
	m.Back, m.Err = true, err
	m.Settings = slices.Compact(slices.Sorted(slices.Values(append(m.Settings, all...))))
	g.log.Warn("settings of git that a command made are taken back", "path", filepath.Join(at, path), "settings", m.Settings, "error", err)
	return true
}

// treeOf says where the working tree of a kept git directory may be: where it was, and for a new one anywhere in the
// roots.
func (g *Guard) treeOf(at string, k *KeptDir) func(path string) bool {
	return func(path string) bool {
		if k.made {
			return g.inside(at, path)
		}
		return path == git.WorkTreeOf(string(k.Files["config"].Text), string(k.Files["config.worktree"].Text))
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
