package service

import (
	"strings"

	"podd/pkg/item"
)

// Plan is what a service's files say about one podd.
type Plan struct {
	// Program is the path of podd, Args what it is started with.
	Program string
	Args    []string
	// Socket is where it listens; empty is the place below the runtime directory.
	Socket string
	// Path is the PATH of podd and its commands; empty is the manager's.
	Path string
	// Log is the file that podd logs to under launchd; systemd has its journal.
	Log string
}

// File is a file that a service consists of.
type File struct {
	// Path is where it lies; Units gives the name alone.
	Path, Text string
}

// marker is in each file that podd has written, and lets it be replaced.
const marker = "Written by podd service install"

// check refuses what the files can't say.
func (p Plan) check() error {
	if strings.ContainsAny(p.Program, "'\"\\") || !printable(p.Program) {
		return item.Errorf(item.KindInvalid, "PROGRAM", "a service manager takes no program whose path has quotes, backslashes or control characters (%q): install podd elsewhere", p.Program)
	}
	for _, text := range append([]string{p.Socket, p.Path}, p.Args...) {
		if !printable(text) {
			return item.Errorf(item.KindInvalid, "PLACE", "the files of a service can't name %q, which has control characters: choose another place", text)
		}
	}
	return nil
}

// program is the command line.
func (p Plan) program() []string {
	return append([]string{p.Program, "serve", "--log-format", "text"}, p.Args...)
}

// CleanPath is a PATH without what has no meaning outside the shell that it comes from:
// relative entries and repeated ones.
func CleanPath(path string) string {
	var kept []string
	seen := map[string]bool{}
	for _, dir := range strings.Split(path, ":") {
		if strings.HasPrefix(dir, "/") && !seen[dir] && printable(dir) {
			seen[dir] = true
			kept = append(kept, dir)
		}
	}
	return strings.Join(kept, ":")
}

// printable says that a text has no control characters.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}
