package git

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Enclosing is the nearest directory, this one or one above it, that has a repository; empty without one.
func Enclosing(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, ".git")) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// HeadMoved says whether HEAD moved since a moment, in the repository around a directory, as git's log of HEAD has it. The log
// has whole seconds.
func HeadMoved(dir string, since time.Time) bool {
	tree := Enclosing(dir)
	if tree == "" {
		return false
	}
	_, dirs, _ := dirsOf(tree)
	if len(dirs) == 0 {
		return false
	}
	// Before the tab are two commits, a name, an address, a time and a zone.
	who, _, _ := strings.Cut(lastMove(dirs[0]), "\t")
	words := strings.Fields(who)
	if len(words) < 2 {
		return false
	}
	at, err := strconv.ParseInt(words[len(words)-2], 10, 64)
	return err == nil && at >= since.Unix()
}

// maxLog is how much of the end of a log of HEAD is read.
const maxLog = 4 << 10

// lastMove is the line of git's log about the last move of HEAD, which says after a tab what moved it; empty if
// there is no log.
func lastMove(dir string) string {
	file, err := os.OpenFile(filepath.Join(dir, "logs", "HEAD"), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-maxLog), maxLog))
	if err != nil {
		return ""
	}
	log := strings.TrimSpace(string(text))
	return log[strings.LastIndexByte(log, '\n')+1:]
}
