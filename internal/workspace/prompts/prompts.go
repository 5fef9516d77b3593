// Package prompts has what a prompt to a pod may begin with, as /NAME: commands, which are files of Markdown, and skills. Package
// skills finds them.
package prompts

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"podd/internal/sanitize"
	"podd/pkg/item"
)

// Prompt is a text with a name.
type Prompt struct {
	// Name follows the slash. About says in one line what the prompt does.
	Name, About string
	// Args are the names of its arguments; Needed says that all must be there. Hint says what they are.
	Args   []string
	Needed bool
	Hint   string
	// Text has places for arguments.
	Text string
	// Wrong says why the prompt cannot be used.
	Wrong error
	// Workspace says that the prompt is the workspace's, which may come from other people.
	Workspace bool
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

// placeholder is what a prompt has for arguments. A dollar sign or a backslash before it makes it text.
var placeholder = regexp.MustCompile(`[$\\]?\$(ARGUMENTS(?:\[\d+\]|\b)|\d+\b|[A-Za-z_]\w*)`)

// called is a text that begins with a name, and what was typed behind it.
var called = regexp.MustCompile(`^/([^\s/]+)(?:\s+|$)((?s:.*))$`)

// Called is the name of the prompt that a text may begin with, and what was typed behind it; other text, such as a path, has none.
func Called(text string) (name, typed string, ok bool) {
	found := called.FindStringSubmatch(text)
	if found == nil {
		return "", "", false
	}
	return found[1], found[2], true
}

// Find finds a prompt by its name, or by its end behind a colon: of several the first. Codex puts "prompts:" before a name.
func Find(list []Prompt, name string) (Prompt, bool) {
	name = strings.TrimPrefix(name, "prompts:")
	i := slices.IndexFunc(list, func(p Prompt) bool { return p.Name == name })
	if i < 0 {
		i = slices.IndexFunc(list, func(p Prompt) bool { return strings.HasSuffix(p.Name, ":"+name) })
	}
	if i < 0 {
		return Prompt{}, false
	}
	return list[i], true
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
	if p.Wrong != nil {
		return nil, fmt.Errorf("/%s cannot be used: %w", p.Name, p.Wrong)
	}
	list, rest := split(typed)
	var out filled
	if err := p.fill(list, &out); err != nil {
		return nil, err
	}
	out.write(Runs(p.Text))
	if len(rest) > 0 {
		out.write("\n")
	}
	if out.size > maxFilled {
		return nil, fmt.Errorf("/%s has more than %d bytes with its arguments", p.Name, maxFilled)
	}
	out.flush()
	return append(out.list, rest...), nil
}

// Arguments splits what was typed after a name into words, and the segments after them; see [Prompt.With].
func Arguments(typed []item.Segment) (words []string, rest []item.Segment) {
	list, rest := split(typed)
	for _, word := range wordsOf(list) {
		words = append(words, textOf(word))
	}
	return words, rest
}

// wordsOf are words as a shell separates them. An unclosed quote is an apostrophe.
func wordsOf(list []piece) [][]piece {
	words, err := Words(list, piece.glyph, piece.blank)
	if err != nil {
		words, _ = Words(list, func(piece) string { return "" }, piece.blank)
	}
	return words
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

// fill puts what was typed in the places of a prompt: $ARGUMENTS for all, $1 for the first word or $0 if there is one,
// $ARGUMENTS[0], and names of arguments. A name of none that somebody typed as NAME=VALUE is one too. A number without a word is
// text. Arguments for which there is no place come last.
func (p Prompt) fill(typed []piece, out *filled) error {
	words := wordsOf(typed)
	text, at, placed := strings.TrimRight(p.Text, "\n"), 0, false
	first := 1
	if zeroth.MatchString(text) {
		first = 0
	}
	for _, found := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		name := text[found[2]:found[3]]
		value, known, err := p.value(name, first, words, typed)
		if escaped := found[2]-found[0] > len("$"); escaped {
			if known || numbered.MatchString(name) {
				out.write(text[at:found[0]] + "$" + name)
				at = found[1]
			}
			continue
		}
		if err != nil {
			return err
		}
		if known {
			out.write(text[at:found[0]])
			out.place(value)
			at, placed = found[1], true
		}
	}
	out.write(text[at:])
	if !placed && len(words) > 0 {
		out.write("\n\n")
		out.place(typed)
	}
	return nil
}

var (
	// zeroth is the place of the first word where places count from 0.
	zeroth = regexp.MustCompile(`(?:^|[^$\\])\$0\b`)
	// places are for arguments of any prompt.
	places = regexp.MustCompile(`\$(\d|ARGUMENTS)`)
	// numbered are the names of places that every prompt may have.
	numbered = regexp.MustCompile(`^(\d|ARGUMENTS)`)
)

// value is the argument for a place; known is false if the place is text.
func (p Prompt) value(name string, first int, words [][]piece, all []piece) (value []piece, known bool, err error) {
	if name == "ARGUMENTS" {
		return all, true, nil
	}
	if i := slices.IndexFunc(p.Args, func(a string) bool { return strings.EqualFold(a, name) }); i >= 0 {
		if i < len(words) {
			return words[i], true, nil
		}
		if p.Needed {
			err = fmt.Errorf("/%s needs %s", p.Name, p.Args[i])
		}
		return nil, true, err
	}
	for _, word := range words {
		if n := len(name) + 1; len(word) >= n && textOf(word[:n]) == name+"=" {
			return word[n:], true, nil
		}
	}
	number, indexed := strings.CutPrefix(name, "ARGUMENTS[")
	i, err := strconv.Atoi(strings.TrimSuffix(number, "]"))
	if !indexed {
		i -= first
	}
	if err != nil || i < 0 || i >= len(words) {
		return nil, false, nil
	}
	return words[i], true, nil
}

// ran is a command that Claude Code runs before it sends the text.
var ran = regexp.MustCompile("(?m)(?:^|\\s)!`[^`\n]+`|^```!")

// Runs says what to do with such commands in a text; empty without any. podd itself runs none: they go through the approvals.
func Runs(text string) string {
	if !ran.MatchString(text) {
		return ""
	}
	return "\n\n[Run the commands marked with ! above yourself first: their output belongs where they are.]"
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

// Join adds prompts to others. Of one name the first counts.
func Join(list []Prompt, more ...Prompt) []Prompt {
	for _, p := range more {
		if !slices.ContainsFunc(list, func(other Prompt) bool { return other.Name == p.Name }) {
			list = append(list, p)
		}
	}
	return list
}

// Description says in a line what a prompt does, or why it cannot be used.
func (p Prompt) Description() string {
	if p.Wrong != nil {
		return sanitize.Line("Cannot be used: " + p.Wrong.Error())
	}
	return sanitize.Line(cmp.Or(p.About, "Sends your prompt "+p.Name))
}

// Arguments says in a line what to type behind a prompt's name; empty if nothing.
func (p Prompt) Arguments() string {
	hint := cmp.Or(p.Hint, strings.Join(p.Args, " "))
	if hint == "" && places.MatchString(p.Text) {
		hint = "arguments"
	}
	return sanitize.Line(hint)
}
