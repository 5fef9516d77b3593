package attach

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
)

// mostTemplate is the longest prompt of a person's own, in bytes.
const mostTemplate = 64 << 10

// template is a prompt of the person's own, which a command sends.
type template struct {
	name, about string
	// args are the names of its arguments.
	args []string
	text string
}

// templateName is the name of a prompt, without .md.
var templateName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// ownPrompts are a person's prompts: podd's, those for other agents, and those of a workspace, which
// may come from other people and have nothing hidden. Of one name the first counts.
func ownPrompts(cfg Config, workspace string) (list []template) {
	add := func(dir string, usable func(template) bool) {
		for _, t := range templates(dir) {
			if usable(t) && !slices.ContainsFunc(list, func(other template) bool { return other.name == t.name }) {
				list = append(list, t)
			}
		}
	}
	home := cfg.Env("HOME")
	for _, dir := range []string{desk.File(cfg.Env, "prompts"), filepath.Join(home, ".claude", "commands"), filepath.Join(home, ".codex", "prompts")} {
		add(dir, func(template) bool { return true })
	}
	if !cfg.Remote {
		for _, dir := range []string{".agents/commands", ".claude/commands"} {
			add(filepath.Join(workspace, dir), func(t template) bool { return sanitize.Terminal(t.text) == t.text })
		}
	}
	return list
}

// templates reads the prompts in a directory. It leaves out what it cannot use.
func templates(dir string) (list []template) {
	files, _ := os.ReadDir(dir) // Without the directory there are none.
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".md")
		if !ok || !templateName.MatchString(name) {
			continue
		}
		if t, err := readTemplate(filepath.Join(dir, f.Name()), name); err == nil {
			list = append(list, t)
		}
	}
	return list
}

// readTemplate reads a prompt: a regular file of the person's own.
func readTemplate(path, name string) (template, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return template{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return template{}, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || ok && int(owner.Uid) != os.Getuid() || info.Size() > mostTemplate {
		return template{}, errors.New("not a regular file of your own of at most 64 KiB")
	}
	text, err := io.ReadAll(io.LimitReader(f, mostTemplate))
	if err != nil || !utf8.Valid(text) {
		return template{}, errors.Join(err, errors.New("not text"))
	}
	return parseTemplate(name, string(text)), nil
}

// parseTemplate separates the front matter, lines of NAME: VALUE between lines of ---.
func parseTemplate(name, text string) template {
	t := template{name: name, text: text}
	rest, ok := strings.CutPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "---\n")
	if !ok {
		return t
	}
	head, body, ok := strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		return t
	}
	t.text = body
	for l := range strings.Lines(head) {
		key, value, _ := strings.Cut(l, ":")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch strings.TrimSpace(key) {
		case "description":
			t.about = value
		case "args":
			t.args = strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,[]", r) })
		}
	}
	return t
}

// placeholder is what a prompt has for arguments.
var placeholder = regexp.MustCompile(`\$(\$|[1-9]|ARGUMENTS\b|[A-Z][A-Z0-9_]*\b)`)

// fill puts arguments in their places: $1 to $9, $ARGUMENTS, and names of the front matter
// in capitals. $$ is a dollar sign. Arguments for which there is no place come last.
func (t template) fill(typed editor) (filled editor, err error) {
	words, err := wordsOf(typed.cells)
	if err != nil {
		return editor{}, err
	}
	text, at, placed := strings.TrimRight(t.text, "\n"), 0, false
	for _, found := range placeholder.FindAllStringIndex(text, -1) {
		name := text[found[0]+1 : found[1]]
		filled.write(text[at:found[0]], byView)
		at = found[1]
		i := slices.IndexFunc(t.args, func(a string) bool { return strings.EqualFold(a, name) })
		what := "argument " + name
		if n, err := strconv.Atoi(name); err == nil {
			i = n - 1
		} else if i >= 0 {
			what = t.args[i]
		}
		switch {
		case name == "$":
			filled.write(name, byView)
		case name == "ARGUMENTS":
			filled.place(typed.cells)
			placed = true
		case i < 0:
			filled.write("$"+name, byView)
		case i < len(words):
			filled.place(words[i])
			placed = true
		default:
			return editor{}, fmt.Errorf("/%s needs %s", t.name, what)
		}
	}
	filled.write(text[at:], byView)
	if !placed && len(words) > 0 {
		filled.write("\n\n", byView)
		filled.place(typed.cells)
	}
	return filled, nil
}

// shellWords separates words at blanks, as a shell does: quotes and backslashes keep them.
func shellWords(text string) (words []string, err error) {
	var e editor
	e.insert(text)
	list, err := wordsOf(e.cells)
	for _, word := range list {
		words = append(words, plainText(word))
	}
	return words, err
}

// wordsOf separates the words of a draft, in which a pasted text of several lines is part of a word.
func wordsOf(list []cell) (words [][]cell, err error) {
	var word []cell
	quote, inside, escaped := "", false, false
	for _, c := range list {
		switch {
		case escaped:
			word = append(word, c)
			escaped = false
		case c.g == `\` && quote != "'":
			inside, escaped = true, true
		case quote != "" && c.g == quote:
			quote = ""
		case quote == "" && (c.g == "'" || c.g == `"`):
			quote, inside = c.g, true
		case quote == "" && c.space():
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

// command is the prompt as a command.
func (t template) command() slash {
	about := t.about
	if about == "" {
		about = "sends your prompt " + t.name + ".md"
	}
	return slash{name: t.name, args: strings.ToUpper(strings.Join(t.args, " ")), about: about, sends: func(a *app, args editor) {
		filled, err := t.fill(args)
		if err != nil {
			a.said = err.Error() // The history has the command.
			return
		}
		a.prompt.draft = filled
		a.submit(false)
	}}
}
