package instructions

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"podd/internal/sanitize"
	"podd/pkg/scopefs"
)

// MaxBytes bounds how much of a file is read, in bytes.
const MaxBytes = 32 << 10

// names are the files to look for in a directory, the preferred one first.
var names = []string{"AGENTS.md", "CLAUDE.md"}

// Found is the result of Read.
type Found struct {
	// Text is the text to send, its first line a heading that names the file; empty without
	// one. It is valid UTF-8 without invisible characters.
	Text string
	// Warnings are one sentence each, for a person, about files that were not sent as they
	// are.
	Warnings []string
}

// Read looks for the file in the workspace of fs, then in the directories above, up to
// the root of the workspace's repository. It uses only the nearest file. Where the scope
// ends before the root of a repository, Read looks only in the workspace. It skips a file
// that it cannot read, and reports it.
func Read(fs *scopefs.FS) Found {
	var found Found
	var notes []string
	for _, dir := range wayUp(fs) {
		for _, name := range names {
			text, err := read(fs, filepath.Join(dir, name), &found)
			if err != nil {
				note := "not read: " + err.Error()
				notes = append(notes, "["+note+"]")
				found.Warnings = append(found.Warnings, "project instructions were "+note)
			}
			if text != "" {
				found.Text = text
				break
			}
		}
		if found.Text != "" {
			break
		}
	}
	if len(notes) > 0 {
		found.Text = strings.TrimPrefix(found.Text+"\n"+strings.Join(notes, "\n"), "\n")
	}
	return found
}

// wayUp are the directories to look in, the workspace first.
func wayUp(fs *scopefs.FS) []string {
	dirs := []string{fs.Dir()}
	for at := fs.Dir(); ; at = filepath.Dir(at) {
		if at != fs.Dir() {
			if info, err := fs.Stat(at); err != nil || !info.IsDir() {
				return dirs[:1]
			}
			dirs = append(dirs, at)
		}
		if _, err := fs.Stat(filepath.Join(at, ".git")); err == nil {
			return dirs
		}
		if at == filepath.Dir(at) {
			return dirs[:1]
		}
	}
}

// read is the text of one file; empty when the file is missing or empty.
func read(fs *scopefs.FS, path string, found *Found) (string, error) {
	// Most workspaces have one of the names or none, and a look is cheaper than an open.
	_, err := fs.Stat(path)
	var file scopefs.File
	if err == nil {
		file, err = fs.ReadFile(path, MaxBytes)
	}
	if e, ok := errors.AsType[*scopefs.PathError](err); ok && e.Kind == scopefs.NotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	shown := scopefs.Display(file.Path)
	data := file.Data
	if file.Truncated {
		data = wholeRunes(data)
	}
	text, hidden := sanitize.Visible(string(data))
	text = strings.TrimSpace(text)
	if hidden > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf(
			"%s has %d invisible or invalid characters, which are left out of the project instructions: look at the file", shown, hidden))
	}
	if file.Truncated {
		found.Warnings = append(found.Warnings, fmt.Sprintf(
			"%s has %d bytes; its first %d are the project instructions", shown, file.Size, MaxBytes))
	}
	if text == "" && hidden == 0 {
		return "", nil
	}
	var b strings.Builder
	b.WriteString(From(shown, text))
	if file.Truncated {
		fmt.Fprintf(&b, "\n[cut here: %s has %d bytes, and these are its first %d]", shown, file.Size, MaxBytes)
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "\n[%d invisible or invalid characters of %s are left out]", hidden, shown)
	}
	return b.String(), nil
}

// heading begins a text, before the file's path.
const heading = "From the file "

// From is text below the heading that names its file.
func From(file, text string) string { return heading + file + "\n\n" + text }

// Source is the path of a text's file, as Display shows it; empty when it has no file.
func Source(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	path, ok := strings.CutPrefix(first, heading)
	if !ok {
		return ""
	}
	return path
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
