// Package prompts has what a prompt to a pod may begin with, as /NAME: a person's own prompts, which are files of Markdown, those of a
// workspace, and skills. A person's own are podd's, in ~/.config/podd/prompts, and those that the person wrote for other agents.
package prompts

import (
	"cmp"
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

	"podd/internal/sanitize"
	"podd/pkg/item"
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

// Expanded is a prompt of another program: its text, and parts with a name that come with it.
type Expanded struct {
	Text string
	With []Part
}

// Part is a text or an image that comes with a prompt.
type Part struct {
	Name, Text string
	Images     []item.Image
}

// nameOf is the name of a prompt, without .md.
var nameOf = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// Own are a person's prompts in some directories, and those of a workspace, which may come from other people and have nothing
// hidden. Of one name the first counts.
func Own(dirs []string, workspace string) (list []Prompt) {
	for _, dir := range dirs {
		list = Join(list, in(dir)...)
	}
	for _, dir := range []string{".agents/commands", ".claude/commands"} {
		list = Join(list, slices.DeleteFunc(in(filepath.Join(workspace, dir)), func(p Prompt) bool { return sanitize.Terminal(p.Text) != p.Text })...)
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

// called is a text that begins with a name, and what was typed behind it.
var called = regexp.MustCompile(`^/([a-z0-9][a-z0-9_-]*)(?:\s+|$)((?s:.*))$`)

// Called is the name of the prompt that a text may begin with, and what was typed behind it; other text, such as a path, has none.
func Called(text string) (name, typed string, ok bool) {
	found := called.FindStringSubmatch(text)
	if found == nil {
		return "", "", false
	}
	return found[1], found[2], true
}

// maxFilled bounds a prompt with its arguments, in bytes.
const maxFilled = 1 << 20

// piece is a character that was typed, or a pasted text.
type piece struct {
	char  string
	paste *item.PasteSegment
}

func (p piece) glyph() string { return p.char }

func (p piece) blank() bool { return p.paste == nil && strings.TrimSpace(p.char) == "" }

// filled is a prompt with its arguments.
type filled struct {
	list []item.Segment
	text strings.Builder
	size int
}

func (f *filled) flush() {
	if f.text.Len() > 0 {
		f.list = append(f.list, item.TextSegment{Text: f.text.String()})
		f.text.Reset()
	}
}

func (f *filled) write(text string) {
	if f.size += len(text); f.size <= maxFilled {
		f.text.WriteString(text)
	}
}

func (f *filled) place(list []piece) {
	for _, p := range list {
		if p.paste == nil {
			f.write(p.char)
		} else if f.size += len(p.paste.Text); f.size <= maxFilled {
			f.flush()
			f.list = append(f.list, *p.paste)
		}
	}
}

// With are the segments of the prompt with what was typed behind its name. Typed text and pastes without a name are its arguments;
// from the first other segment on, all comes behind it.
func (p Prompt) With(typed []item.Segment) ([]item.Segment, error) {
	list, rest := split(typed)
	var out filled
	if err := p.fill(list, &out); err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		out.write("\n")
	}
	if out.size > maxFilled {
		return nil, fmt.Errorf("/%s has more than %d bytes with its arguments", p.Name, maxFilled)
	}
	out.flush()
	return append(out.list, rest...), nil
}

// Arguments splits what was typed after a name into words, and the segments after them; see [Prompt.With]. An unclosed quote is an
// apostrophe.
func Arguments(typed []item.Segment) (words []string, rest []item.Segment) {
	list, rest := split(typed)
	found, err := Words(list, piece.glyph, piece.blank)
	if err != nil {
		return strings.Fields(textOf(list)), rest
	}
	for _, word := range found {
		words = append(words, textOf(word))
	}
	return words, rest
}

func textOf(list []piece) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.char)
		if p.paste != nil {
			b.WriteString(p.paste.Text)
		}
	}
	return b.String()
}

// split separates the arguments from the rest.
func split(typed []item.Segment) (list []piece, rest []item.Segment) {
	rest = typed
	for ; len(rest) > 0; rest = rest[1:] {
		paste, pasted := rest[0].(item.PasteSegment)
		text, ok := rest[0].(item.TextSegment)
		if !ok && (!pasted || paste.Name != "") {
			break
		}
		if pasted {
			list = append(list, piece{paste: &paste})
		}
		for _, c := range text.Text {
			list = append(list, piece{char: string(c)})
		}
	}
	for len(list) > 0 && list[0].blank() {
		list = list[1:]
	}
	for len(list) > 0 && list[len(list)-1].blank() {
		list = list[:len(list)-1]
	}
	return list, rest
}

// fill puts what was typed in the places of a prompt: $1 to $9, $ARGUMENTS, and names of the front matter in capitals. $$ is
// a dollar sign. Arguments for which there is no place come last.
func (p Prompt) fill(typed []piece, out *filled) error {
	words, err := Words(typed, piece.glyph, piece.blank)
	if err != nil {
		return err
	}
	text, at, placed := strings.TrimRight(p.Text, "\n"), 0, false
	for _, found := range placeholder.FindAllStringIndex(text, -1) {
		name := text[found[0]+1 : found[1]]
		out.write(text[at:found[0]])
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
			out.write(name)
		case name == "ARGUMENTS":
			out.place(typed)
			placed = true
		case i < 0:
			out.write("$" + name)
		case i < len(words):
			out.place(words[i])
			placed = true
		default:
			return fmt.Errorf("/%s needs %s", p.Name, what)
		}
	}
	out.write(text[at:])
	if !placed && len(words) > 0 {
		out.write("\n\n")
		out.place(typed)
	}
	return nil
}

// Words separates words at blanks, as a shell does: quotes and backslashes keep them. glyph is the character that an element
// is.
func Words[T any](list []T, glyph func(T) string, blank func(T) bool) (words [][]T, err error) {
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
		case quote == "" && blank(c):
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

// Skill is the prompt to use a skill.
func Skill(name string) Prompt {
	return Prompt{Name: name, About: "Use the skill " + name, Hint: "task", Text: "Use the skill " + name + "."}
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

// Description says in a line what a prompt does.
func (p Prompt) Description() string {
	return sanitize.Line(cmp.Or(p.About, "Sends your prompt "+p.Name+".md"))
}

// Arguments says in a line what to type behind a prompt's name; empty if nothing.
func (p Prompt) Arguments() string {
	hint := cmp.Or(strings.Join(p.Args, " "), p.Hint)
	if hint == "" && placeholder.MatchString(p.Text) {
		hint = "arguments"
	}
	return sanitize.Line(hint)
}
