// Package ownprompts has a person's own prompts: files of Markdown that clients send by their names, as /NAME. They are podd's, in
// ~/.config/podd/prompts, and those that the person wrote for other agents.
package ownprompts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"podd/internal/clients/desk"
	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// mostBytes is the longest prompt.
const mostBytes = 64 << 10

// Prompt is a prompt of the person's own.
type Prompt struct {
	// Name follows the slash. About is the description of the front matter, one line.
	Name, About string
	// Args are the names of its arguments; Hint says what they are if they have none.
	Args []string
	Hint string
	// Text has places for arguments.
	Text string
}

// nameOf is the name of a prompt, without .md.
var nameOf = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// Own are a person's prompts: podd's, those for other agents, and those of a workspace, which may come from other people and
// have nothing hidden. Of one name the first counts. An empty workspace has none: it may be on another machine.
func Own(env func(string) string, workspace string) (list []Prompt) {
	home := env("HOME")
	for _, dir := range []string{desk.File(env, "prompts"), filepath.Join(home, ".claude", "commands"), filepath.Join(home, ".codex", "prompts")} {
		list = Join(list, in(dir)...)
	}
	if workspace != "" {
		for _, dir := range []string{".agents/commands", ".claude/commands"} {
			list = Join(list, slices.DeleteFunc(in(filepath.Join(workspace, dir)), func(p Prompt) bool { return sanitize.Terminal(p.Text) != p.Text })...)
		}
	}
	return list
}

// in reads the prompts in a directory. It leaves out what it cannot use.
func in(dir string) (list []Prompt) {
	files, _ := os.ReadDir(dir) // A missing directory has no prompts.
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".md")
		if !ok || !nameOf.MatchString(name) {
			continue
		}
		if p, err := read(filepath.Join(dir, f.Name()), name); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// read reads a prompt: a regular file of the person's own.
func read(path, name string) (Prompt, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return Prompt{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Prompt{}, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || ok && int(owner.Uid) != os.Getuid() || info.Size() > mostBytes {
		return Prompt{}, errors.New("not a regular file of your own of at most 64 KiB")
	}
	text, err := io.ReadAll(io.LimitReader(f, mostBytes))
	if err != nil || !utf8.Valid(text) {
		return Prompt{}, errors.Join(err, errors.New("not text"))
	}
	return parse(name, string(text)), nil
}

// parse separates the front matter, lines of NAME: VALUE between lines of ---.
func parse(name, text string) Prompt {
	p := Prompt{Name: name, Text: text}
	rest, ok := strings.CutPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "---\n")
	if !ok {
		return p
	}
	head, body, ok := strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		return p
	}
	p.Text = body
	for l := range strings.Lines(head) {
		key, value, _ := strings.Cut(l, ":")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch strings.TrimSpace(key) {
		case "description":
			p.About = value
		case "argument-hint":
			p.Hint = value
		case "args":
			p.Args = strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,[]", r) })
		}
	}
	return p
}

// placeholder is what a prompt has for arguments.
var placeholder = regexp.MustCompile(`\$(\$|[1-9]|ARGUMENTS\b|[A-Z][A-Z0-9_]*\b)`)

// Fill puts what was typed in the places of a prompt: $1 to $9, $ARGUMENTS, and names of the front matter in capitals. $$ is
// a dollar sign. Arguments for which there is no place come last. What was typed consists of elements of a client, of which
// words are made; write and place get the whole in its order.
func Fill[T any](p Prompt, typed []T, words [][]T, write func(text string), place func([]T)) error {
	text, at, placed := strings.TrimRight(p.Text, "\n"), 0, false
	for _, found := range placeholder.FindAllStringIndex(text, -1) {
		name := text[found[0]+1 : found[1]]
		write(text[at:found[0]])
		at = found[1]
		i := slices.IndexFunc(p.Args, func(a string) bool { return strings.EqualFold(a, name) })
		what := "argument " + name
		if n, err := strconv.Atoi(name); err == nil {
			i = n - 1
		} else if i >= 0 {
			what = p.Args[i]
		}
		switch {
		case name == "$":
			write(name)
		case name == "ARGUMENTS":
			place(typed)
			placed = true
		case i < 0:
			write("$" + name)
		case i < len(words):
			place(words[i])
			placed = true
		default:
			return fmt.Errorf("/%s needs %s", p.Name, what)
		}
	}
	write(text[at:])
	if !placed && len(words) > 0 {
		write("\n\n")
		place(typed)
	}
	return nil
}

// With is the prompt with arguments that are text.
func (p Prompt) With(typed string) (string, error) {
	list := strings.Split(typed, "")
	words, err := Words(list, func(c string) string { return c }, func(c string) bool { return strings.TrimSpace(c) == "" })
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = Fill(p, list, words, func(text string) { b.WriteString(text) }, func(part []string) { b.WriteString(strings.Join(part, "")) })
	return b.String(), err
}

// Words separates words at blanks, as a shell does: quotes and backslashes keep them. glyph is the character that an element
// is.
func Words[T any](list []T, glyph func(T) string, space func(T) bool) (words [][]T, err error) {
	var word []T
	quote, inside, escaped := "", false, false
	for _, c := range list {
		switch g := glyph(c); {
		case escaped:
			word = append(word, c)
			escaped = false
		case g == `\` && quote != "'":
			inside, escaped = true, true
		case quote != "" && g == quote:
			quote = ""
		case quote == "" && (g == "'" || g == `"`):
			quote, inside = g, true
		case quote == "" && space(c):
			if inside {
				words = append(words, word)
				word = nil
			}
			inside = false
		default:
			word = append(word, c)
			inside = true
		}
	}
	if quote != "" {
		return nil, fmt.Errorf("the arguments have an open %s", quote)
	}
	if inside {
		words = append(words, word)
	}
	return words, nil
}

// Takes says whether a prompt has a place for arguments.
func (p Prompt) Takes() bool { return placeholder.MatchString(p.Text) }

// Skills are prompts to use the skills that a pod has, by the parts of its context.
func Skills(parts []*poddv1.ContextPart) (list []Prompt) {
	for _, part := range parts {
		if name, _, _ := strings.Cut(part.GetName(), " "); part.GetKind() == "skill" && nameOf.MatchString(name) {
			list = append(list, Prompt{Name: name, About: "Use the skill " + name, Hint: "task", Text: "Use the skill " + name + "."})
		}
	}
	return list
}

// Join adds prompts to others. Of one name the first counts.
func Join(list []Prompt, more ...Prompt) []Prompt {
	for _, p := range more {
		if !slices.ContainsFunc(list, func(other Prompt) bool { return other.Name == p.Name }) {
			list = append(list, p)
		}
	}
	return list
}
