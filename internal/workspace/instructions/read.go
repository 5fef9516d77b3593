package instructions

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"podd/pkg/scopefs"
)

// MaxBytes bounds what is sent of all files together, in bytes. Those that come last, which
// are the nearest, have the first claim.
const MaxBytes = 32 << 10

// names are the files to look for in a directory, the preferred one first.
var names = []string{"AGENTS.override.md", "AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"}

// localName is the personal file beside that of the project.
const localName = "CLAUDE.local.md"

// Found is the result of Read.
type Found struct {
	// Text is the text to send: of each file a heading that names it and its content, the
	// nearest file last; empty without any. It is valid UTF-8 without invisible characters.
	Text string
	// Warnings are one sentence each, for a person, about files that were not sent as they
	// are.
	Warnings []string
}

// Read reads the files of each directory from the root of the workspace's repository down
// to the workspace of fs; without a repository, those of the workspace alone. It skips a
// file that it cannot read, and reports it. wider opens the workspace with one more
// directory to read; Read closes it.
func Read(fs *scopefs.FS, wider func(root string) (*scopefs.FS, error)) Found {
	c := collector{fs: fs}
	dirs := wayUp(fs.Dir())
	var above *scopefs.FS
	if root := dirs[len(dirs)-1]; !inScope(fs, root) {
		var err error
		if above, err = wider(root); err != nil {
			c.skip(root, err)
		} else {
			defer above.Close()
		}
	}
	for _, dir := range slices.Backward(dirs) {
		switch {
		case inScope(fs, dir):
			c.addDir(fs, dir)
			c.addRules(dir)
		case above != nil:
			c.addDir(above, dir)
		}
	}
	return c.found()
}

// ReadOwn reads a person's own file and what it imports: files of the same directory, and of
// the home directory. Without a path, or without the file, the text is empty.
func ReadOwn(path, home string) Found {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil || path == "" {
		return Found{}
	}
	scope := scopefs.Config{Dir: filepath.Dir(resolved)}
	if home != "" {
		scope.Read = []string{home}
	}
	fs, err := scopefs.Open(scope)
	if err != nil {
		return Found{Warnings: []string{"your instructions were not read: " + err.Error()}}
	}
	defer fs.Close()
	c := collector{fs: fs}
	c.add(fs, resolved, 0)
	return c.found()
}

func inScope(fs *scopefs.FS, dir string) bool {
	info, err := fs.Stat(dir)
	return err == nil && info.IsDir()
}

// wayUp are the directories from one up to the root of its repository.
func wayUp(dir string) []string {
	dirs := []string{dir}
	for at := dir; ; at = filepath.Dir(at) {
		if at != dir {
			dirs = append(dirs, at)
		}
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return dirs
		}
		if at == filepath.Dir(at) {
			return dirs[:1]
		}
	}
}

// Below are the files for a directory below the workspace and those between, the nearest
// first, as far as podd does not send them with each request.
func Below(fs *scopefs.FS, dir string) (files []string) {
	for ; dir != fs.Dir() && len(dir) > len(fs.Dir()); dir = filepath.Dir(dir) {
		for _, name := range names {
			if info, err := fs.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
				files = append(files, filepath.Join(dir, name))
				break
			}
		}
	}
	return files
}

// found puts the files together.
func (c *collector) found() Found {
	left := MaxBytes
	for i := range slices.Backward(c.files) {
		f := &c.files[i]
		if f.cut = f.cut || len(f.text) > left; len(f.text) > left {
			f.text = string(wholeRunes([]byte(f.text[:left])))
		}
		left -= len(f.text)
	}
	found := Found{Warnings: c.warnings}
	parts := make([]string, 0, len(c.files)+1)
	for _, f := range c.files {
		parts = append(parts, f.block())
		if f.cut {
			found.Warnings = append(found.Warnings, fmt.Sprintf("%s has %d bytes; its first %d are sent as instructions, of at most %d in all", f.shown, f.size, len(f.text), MaxBytes))
		}
	}
	if len(c.files) > 1 {
		c.notes = append(c.notes, "[where these files differ, the later one counts]")
	}
	if len(c.notes) > 0 {
		parts = append(parts, strings.Join(c.notes, "\n"))
	}
	found.Text = strings.Join(parts, "\n\n")
	return found
}

// heading begins a file's part of a text, before its path.
const heading = "From the file "

// From is text below the heading that names its file.
func From(file, text string) string { return heading + file + "\n\n" + text }

// Part is what a text has of one file.
type Part struct {
	// File is the path, as Display shows it; empty for text before the first file.
	File string
	Text string
}

// Parts separates a text by its files.
func Parts(text string) (parts []Part) {
	for line := range strings.Lines(text) {
		path, ok := strings.CutPrefix(line, heading)
		if ok || len(parts) == 0 {
			parts = append(parts, Part{File: strings.TrimSuffix(path, "\n")})
			if !ok {
				parts[0].File = ""
			}
		}
		parts[len(parts)-1].Text += line
	}
	return parts
}

// wholeRunes removes an incomplete rune at the end of a cut.
func wholeRunes(b []byte) []byte {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}
