package instructions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"podd/internal/sanitize"
	"podd/pkg/scopefs"
)

const (
	// maxDepth is how many files import each other in a row, as in Claude Code.
	maxDepth = 5
	// maxFiles bounds the files of a text, maxImports what one file imports, and maxNotes what
	// is said about files that are not sent.
	maxFiles, maxImports, maxNotes = 100, 50, 20
)

// collector reads files, each once.
type collector struct {
	// fs has what files import, and the rules.
	fs    *scopefs.FS
	seen  []os.FileInfo
	files []read
	// notes are lines of the text about files that are not in it.
	notes, warnings []string
}

// read is a file that was read.
type read struct {
	shown, text string
	size        int64
	cut         bool
	// hidden counts the characters that are left out.
	hidden int
}

// block is what is sent of the file.
func (f read) block() string {
	text := From(f.shown, f.text)
	if f.cut {
		text += fmt.Sprintf("\n[cut here: %s has %d bytes, and these are its first %d]", f.shown, f.size, len(f.text))
	}
	if f.hidden > 0 {
		text += fmt.Sprintf("\n[%d invisible or invalid characters of %s are left out]", f.hidden, f.shown)
	}
	return text
}

// addDir adds the file of a directory, and the person's own beside it.
func (c *collector) addDir(from *scopefs.FS, dir string) {
	for _, name := range names {
		if c.add(from, filepath.Join(dir, name), 0) {
			break
		}
	}
	c.add(from, filepath.Join(dir, localName), 0)
}

// add adds a file and what it imports, unless it is there. It returns false for a file
// that is missing, empty or cannot be read.
func (c *collector) add(from *scopefs.FS, path string, depth int) bool {
	info, err := from.Stat(path)
	if isMissing(err) {
		return false
	}
	if err == nil && slices.ContainsFunc(c.seen, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
		return true
	}
	var file scopefs.File
	if err == nil {
		file, err = from.ReadFile(path, MaxBytes)
	}
	if isMissing(err) {
		return false
	}
	if err != nil || len(c.files) == maxFiles {
		c.skip(path, err)
		return false
	}
	c.seen = append(c.seen, info)
	data := file.Data
	if file.Truncated {
		data = wholeRunes(data)
	}
	f := read{shown: scopefs.Display(file.Path), size: file.Size, cut: file.Truncated}
	f.text, f.hidden = sanitize.Visible(string(data))
	if f.text = strings.TrimSpace(f.text); f.text == "" && f.hidden == 0 {
		return false
	}
	if f.hidden > 0 {
		c.warnings = append(c.warnings, fmt.Sprintf(
			"%s has %d invisible or invalid characters, which are left out of the instructions: look at the file", f.shown, f.hidden))
	}
	c.files = append(c.files, f)
	if depth < maxDepth {
		for _, name := range imports(f.text) {
			path := below(filepath.Dir(path), name)
			// A mention in a file above the scope is no import.
			if info, err := from.Stat(path); isMissing(err) || err == nil && info.IsDir() {
				continue
			}
			c.add(c.fs, path, depth+1)
		}
	}
	return true
}

// skip notes that a file is not sent; a nil err means that there are too many.
func (c *collector) skip(path string, err error) {
	if len(c.notes) == maxNotes {
		return
	}
	if err == nil {
		err = fmt.Errorf("%s is one of more than %d files", scopefs.Display(path), maxFiles)
	}
	c.notes = append(c.notes, "[not read: "+err.Error()+"]")
	c.warnings = append(c.warnings, "project instructions were not read: "+err.Error())
}

func isMissing(err error) bool {
	e, ok := errors.AsType[*scopefs.PathError](err)
	return ok && e.Kind == scopefs.NotFound
}

// below is a path that a file of a directory names.
func below(dir, name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, _ := os.UserHomeDir() // Without one, the path is that of no file.
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

var (
	// code is what names no import: a fenced block, and code in a line.
	code = regexp.MustCompile("(?ms)^[ \t]*```.*?(^[ \t]*```|\\z)|^[ \t]*~~~.*?(^[ \t]*~~~|\\z)|`[^`\n]*`")
	// imported is the name of a file that a text imports.
	imported = regexp.MustCompile(`(?:^|[\s(])@([^\s@` + "`" + `]+)`)
)

// imports are the files that a text imports: @path, outside of code.
func imports(text string) (list []string) {
	for _, m := range imported.FindAllStringSubmatch(code.ReplaceAllString(text, " "), -1) {
		if name := strings.TrimRight(m[1], ".,;:!?)"); name != "" && len(list) < maxImports {
			list = append(list, name)
		}
	}
	return list
}

// addRules adds the rules of a directory. Of a rule for some paths it adds a note, with
// which the model can read it when it gets there.
func (c *collector) addRules(dir string) {
	for _, path := range c.rulesIn(filepath.Join(dir, ".claude", "rules"), 3) {
		n := len(c.files)
		if !c.add(c.fs, path, 0) || len(c.files) == n {
			continue
		}
		f := &c.files[n]
		front, body := frontMatter(f.text)
		if paths := listed(front, "paths"); len(paths) > 0 {
			c.notes = append(c.notes, fmt.Sprintf("[%s has rules for %s: read it before you work there]", f.shown, strings.Join(paths, ", ")))
			c.files = c.files[:n]
			continue
		}
		f.text = body
	}
}

// rulesIn are the files of rules in a directory, at most depth levels deep.
func (c *collector) rulesIn(dir string, depth int) (list []string) {
	entries, _ := c.fs.ReadDir(dir) // A missing directory has no rules.
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case len(list) > maxFiles:
			return list
		case e.IsDir() && depth > 1:
			list = append(list, c.rulesIn(path, depth-1)...)
		case !e.IsDir() && strings.HasSuffix(e.Name(), ".md"):
			list = append(list, path)
		}
	}
	return list
}

// frontMatter separates the lines between --- at the beginning of a text.
func frontMatter(text string) (front, body string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text
	}
	if front, body, ok = strings.Cut("\n"+rest, "\n---\n"); !ok {
		return "", text
	}
	return front, strings.TrimSpace(body)
}

// listed are the values of a key of front matter, in its line or as a list below it.
func listed(front, key string) (values []string) {
	inside := false
	for line := range strings.Lines(front) {
		value, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if name, rest, ok := strings.Cut(line, ":"); ok && !isItem {
			inside, value = strings.TrimSpace(name) == key, rest
		}
		if !inside {
			continue
		}
		for v := range strings.SplitSeq(strings.Trim(strings.TrimSpace(value), "[]"), ", ") {
			if v = strings.Trim(strings.TrimSpace(v), `"'`); v != "" {
				values = append(values, v)
			}
		}
	}
	return values
}
