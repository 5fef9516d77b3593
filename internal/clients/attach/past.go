package attach

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"podd/internal/guard/secrets"
	"podd/pkg/item"
)

// The bounds of the file of prompts.
const (
	mostPast      = 1 << 20
	mostPastPaste = 4 << 10
)

// past is the prompts of earlier views, in a file of lines of JSON.
type past struct{ path string }

// pastPrompt is a line of the file.
type pastPrompt struct {
	Time    time.Time  `json:"time"`
	Dir     string     `json:"dir"`
	Request string     `json:"request,omitempty"`
	Parts   []pastPart `json:"parts,omitempty"`
	// Text is instead of parts in lines of before they were, which do not say what was pasted.
	Text string `json:"text,omitempty"`
}

// pastPart is a piece of a prompt: typed text, or a pasted text and what it is.
type pastPart struct {
	Text  string `json:"text,omitempty"`
	Paste string `json:"paste,omitempty"`
	Name  string `json:"name,omitempty"`
}

// pastParts are the pieces of a prompt.
func pastParts(e editor) (parts []pastPart) {
	for _, s := range e.segments() {
		switch s := s.(type) {
		case item.TextSegment:
			parts = append(parts, pastPart{Text: s.Text})
		case item.PasteSegment:
			parts = append(parts, pastPart{Paste: s.Text, Name: s.Name})
		}
	}
	return parts
}

// prompt is the prompt of a line.
func (p pastPrompt) prompt() sentPrompt {
	var list []item.Segment
	for _, part := range p.Parts {
		if part.Text != "" {
			list = append(list, item.TextSegment{Text: part.Text})
		} else {
			list = append(list, item.PasteSegment{Text: part.Paste, Name: part.Name})
		}
	}
	e := draftOf(list, byView)
	e.write(p.Text, byPaste)
	return sentPrompt{e, p.Request}
}

// pastFile is the file of a person's prompts.
func pastFile(env func(string) string) past {
	dir := env("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env("HOME"), ".local", "state")
	}
	return past{filepath.Join(dir, "podd", "history.jsonl")}
}

// pastPrompts are the prompts that a view in a directory can recall.
func pastPrompts(cfg Config, dir string) []sentPrompt {
	if !cfg.Desk.History {
		return nil
	}
	return pastFile(cfg.Env).read(dir)
}

// read returns the prompts, oldest first; those of a directory come after all others. It
// leaves out lines that it cannot read.
func (p past) read(dir string) (prompts []sentPrompt) {
	data, err := os.ReadFile(p.path)
	if err != nil {
		return nil
	}
	var here []sentPrompt
	for l := range bytes.Lines(data) {
		var line pastPrompt
		if json.Unmarshal(l, &line) != nil {
			continue
		}
		switch prompt := line.prompt(); {
		case prompt.empty():
		case line.Dir == dir:
			here = append(here, prompt)
		default:
			prompts = append(prompts, prompt)
		}
	}
	return append(prompts, here...)
}

// keeps says whether a prompt may be stored: not after a blank, which hides it, not with a
// secret, a picture or much that was pasted. Commands are not stored either, of the view and of a shell.
func keeps(e editor) bool {
	text := e.whole()
	_, _, slash := e.command()
	_, _, shell := e.shell()
	if slash || shell || text == "" || strings.TrimLeft(text[:1], " \t") == "" {
		return false
	}
	if slices.ContainsFunc(e.cells, func(c cell) bool { return len(c.paste) > mostPastPaste || c.picture != nil }) {
		return false
	}
	return !secrets.New().Holds(text) && secrets.New().Redact(text) == text
}

// add appends a prompt, and shortens a file that has become too long.
func (p past) add(prompt pastPrompt) error {
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return fmt.Errorf("cannot keep the prompt: %w", err)
	}
	f, err := os.OpenFile(p.path, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return fmt.Errorf("cannot keep the prompt: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("cannot keep the prompt: %w", errors.Join(err, fmt.Errorf("%s is not a regular file", p.path)))
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("cannot lock %s: %w", p.path, err)
	}
	line, err := json.Marshal(prompt)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("cannot keep the prompt: %w", err)
	}
	return shorten(f)
}

// shorten keeps the last prompts of a locked file that is too long. It leaves room, so that
// not every prompt rewrites the file.
func shorten(f *os.File) error {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 2*mostPast))
	if err != nil {
		return fmt.Errorf("cannot shorten the history: %w", err)
	}
	lines := slices.Collect(bytes.Lines(data))
	if len(data) <= mostPast && len(lines) <= mostRecalled {
		return nil
	}
	from, size := len(lines), 0
	for from > 0 && len(lines)-from < mostRecalled*9/10 && size+len(lines[from-1]) <= mostPast*9/10 {
		from--
		size += len(lines[from])
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("cannot shorten the history: %w", err)
	}
	_, err = f.Write(bytes.Join(lines[from:], nil))
	return err
}
