package git

import (
	"bytes"
	"compress/zlib"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Bounds of how commits are counted: their number, and how much of each is read.
const (
	maxAhead  = 1000
	maxParsed = 16 << 10
)

// Ahead counts the commits that lead from one to another: below zero if they lead back. It is 0 if they are not
// in one line without merges, or if git has packed them since.
func Ahead(tree, from, to string) int {
	_, dirs, ok := dirsOf(tree)
	if !ok || len(dirs) == 0 || from == "" || to == "" {
		return 0
	}
	objects := filepath.Join(dirs[len(dirs)-1], "objects")
	if n := between(objects, from, to); n > 0 {
		return n
	}
	return -between(objects, to, from)
}

func between(objects, from, to string) int {
	for n := 1; n <= maxAhead; n++ {
		parents := parentsOf(objects, to)
		if len(parents) != 1 {
			return 0
		}
		if to = parents[0]; to == from {
			return n
		}
	}
	return 0
}

// parentsOf reads the parents of a commit that is stored as a loose object. It finds none for a packed commit.
func parentsOf(objects, commit string) (parents []string) {
	file, err := os.OpenFile(filepath.Join(objects, commit[:2], commit[2:]), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	unzipped, err := zlib.NewReader(file)
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(unzipped, maxParsed))
	if err != nil || !bytes.HasPrefix(text, []byte("commit ")) {
		return nil
	}
	_, header, _ := strings.Cut(string(text), "\x00")
	for l := range strings.Lines(header) {
		key, value, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
		switch {
		case key == "parent" && isCommit(value):
			parents = append(parents, value)
		case key != "tree":
			return parents
		}
	}
	return parents
}
