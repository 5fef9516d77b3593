package service

import (
	"strings"

	"podd/pkg/item"
)

// Plan describes the podd that a service runs.
type Plan struct {
	// Program is the path of podd, Args are its arguments.
	Program string
	Args    []string
	// Socket is where it listens; empty means the default in the runtime directory.
	Socket string
	// Path is the PATH of podd and its commands; empty means the manager's.
	Path string
	// Log is the file that podd logs to under launchd; systemd uses its journal.
	Log string
}

// File is a file of a service.
type File struct {
	// Path is its path; in the result of Units, only its name.
	Path, Text string
}

// marker is in each file that podd has written, and allows podd to replace it.
const marker = "Written by podd service install"

// check refuses values that the files cannot express.
func (p Plan) check() error {
	if strings.ContainsAny(p.Program, "'\"\\") || !printable(p.Program) {
		return item.Errorf(item.KindInvalid, "PROGRAM", "the path %q contains quotes, backslashes or control characters, which a service manager does not accept: install podd elsewhere", p.Program)
	}
	for _, text := range append([]string{p.Socket, p.Path}, p.Args...) {
		if !printable(text) {
			return item.Errorf(item.KindInvalid, "PLACE", "%q contains control characters, which the files of a service cannot express: choose another path", text)
		}
	}
	return nil
}

// program is the command line.
func (p Plan) program() []string {
	return append([]string{p.Program, "serve", "--log-format", "text"}, p.Args...)
}

// CleanPath is a PATH without relative entries, which mean nothing outside the shell, and
// without repeated ones.
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

// printable says whether a text has no control characters.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}
