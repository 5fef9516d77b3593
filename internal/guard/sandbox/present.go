package sandbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// fewPlaces is how many places of one directory are looked up one by one: for more of
	// them it is read once.
	fewPlaces = 8
	// maxNames is how many names of a directory are read.
	maxNames = 4096
)

// presence is what exists of many places, at one moment: the names in the directories with
// many of them, in lower case; nil where they are not known. Nearly all places of credentials
// do not exist, and looking up each would take longer than all else before a command.
type presence map[string]map[string]struct{}

// crowded are the directories that have many of the places.
func crowded(places []string) (dirs []string) {
	count := map[string]int{}
	for _, path := range places {
		dir := filepath.Dir(path)
		if count[dir]++; count[dir] == fewPlaces {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// readAll reads the directories.
func readAll(dirs []string) presence {
	p := presence{}
	for _, dir := range dirs {
		p[dir] = namesIn(dir)
	}
	return p
}

// namesIn are the names in a directory; nil if it has too many or cannot be read.
func namesIn(path string) map[string]struct{} {
	dir, err := openDir(path)
	if os.IsNotExist(err) {
		return map[string]struct{}{}
	}
	if err != nil {
		return nil
	}
	defer dir.Close()
	all, err := dir.Readdirnames(maxNames)
	if err != nil && !errors.Is(err, io.EOF) || len(all) == maxNames {
		return nil
	}
	names := make(map[string]struct{}, len(all))
	for _, name := range all {
		names[strings.ToLower(name)] = struct{}{}
	}
	return names
}

// mayHave says whether something can be at a path: false is certain.
func (p presence) mayHave(path string) bool {
	for path != "/" && path != "." {
		dir, name := filepath.Split(path)
		path = filepath.Clean(dir)
		if names := p[path]; names != nil {
			if _, ok := names[strings.ToLower(name)]; !ok {
				return false
			}
		}
	}
	return true
}
