package skills

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"podd/internal/sanitize"
)

// The bounds of the format: of a name in bytes, of a description in characters.
const (
	maxName        = 64
	maxDescription = 1024
)

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// front is the front matter of a file.
type front struct {
	// values has for each key its value, or those of a list.
	values map[string][]string
	// odd are the keys with another value.
	odd []string
}

func (f front) one(key string) string { return strings.Join(f.values[key], " ") }

// head is what every skill and agent has.
type head struct {
	name, description string
	front
}

// parse reads a SKILL.md. Its texts have no invisible characters. An error says what is
// wrong and what to write instead.
func parse(file string, text []byte) (h head, body string, err error) {
	if isCommand(file) {
		return parseCommand(file, text)
	}
	return parseWhole(text)
}

// parseWhole reads what has to have front matter.
func parseWhole(text []byte) (h head, body string, err error) {
	above, body, err := split(text)
	if err != nil {
		return h, "", err
	}
	if h, err = parseHead(above); err != nil {
		return h, "", err
	}
	if body == "" {
		return h, "", errors.New("it says nothing below its front matter")
	}
	return h, body, nil
}

// split separates the front matter, between lines of ---, from the text below, which has no invisible characters. With an
// error the text is all.
func split(text []byte) (above []byte, body string, err error) {
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), []byte("\r\n"), []byte("\n"))
	above, below, ended := bytes.Cut(text, []byte("\n---"))
	above, begins := bytes.CutPrefix(append(above, '\n'), []byte("---\n"))
	switch {
	case !begins:
		err = errNoFront
	case !ended || len(below) > 0 && below[0] != '\n':
		err = errors.New("its front matter has no end: write --- on a line of its own after it")
	}
	if err != nil {
		above, below = nil, text
	}
	body, _ = sanitize.Visible(strings.ToValidUTF8(string(below), "?"))
	return above, strings.TrimSpace(body), err
}

var errNoFront = errors.New("it does not begin with front matter: write --- on the first line, then name and description, then ---")

const commandsName = "commands"

// isCommand says whether a file is a command of a plugin. A command is a skill without the rules of
// one: its name is that of the file.
func isCommand(file string) bool {
	return path.Base(path.Dir(file)) == commandsName && strings.HasSuffix(file, ".md") && path.Base(file) != "SKILL.md"
}

func parseCommand(file string, text []byte) (h head, body string, err error) {
	h.name = strings.TrimSuffix(path.Base(file), ".md")
	if !nameForm.MatchString(h.name) || len(h.name) > maxName {
		return h, "", fmt.Errorf("the name of a command must be lower-case letters and digits with single hyphens between them, at most %d", maxName)
	}
	p := command(h.name, text)
	h.description = cmp.Or(p.About, "a command that the user may ask for")
	return h, p.Text, nil
}

func parseHead(text []byte) (h head, err error) {
	if h.front, err = parseFront(text); err != nil {
		return h, err
	}
	h.name, h.description = h.one("name"), short(h.one("description"))
	switch {
	case len(h.name) > maxName || !nameForm.MatchString(h.name):
		return h, fmt.Errorf("its name must be lower-case letters and digits with single hyphens between them, at most %d", maxName)
	case h.description == "":
		return h, errors.New("it has no description: say what it is for and when to use it")
	}
	return h, nil
}

// short is a description in one line, bounded.
func short(text string) string {
	text, _ = sanitize.Visible(strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > maxDescription {
		text = string([]rune(text)[:maxDescription-1]) + "…"
	}
	return text
}

// unquoted matches the values without quotes that files for Claude Code have, which YAML may not read as text.
var unquoted = regexp.MustCompile(`(?m)^([A-Za-z_][\w-]*):[ \t]+([^\s'"|>].*)$`)

// parseFront reads front matter. What is no YAML is read with its values in quotes.
func parseFront(text []byte) (front, error) {
	var doc yaml.Node
	err := yaml.Unmarshal(text, &doc)
	if err != nil && yaml.Unmarshal(unquoted.ReplaceAllFunc(text, func(line []byte) []byte {
		key, value, _ := strings.Cut(string(line), ":")
		return []byte(key + ": '" + strings.ReplaceAll(strings.TrimSpace(value), "'", "''") + "'")
	}), &doc) != nil {
		return front{}, fmt.Errorf("its front matter is no YAML (%s): put values with a colon in quotes", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return front{}, errors.New("its front matter does not consist of keys and values: write lines such as description: TEXT")
	}
	// Other keys are for other programs. Nodes are not expanded: an alias is not text.
	all, pairs := front{values: map[string][]string{}}, doc.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		var list []string
		nodes := []*yaml.Node{pairs[i+1]}
		if nodes[0].Kind == yaml.SequenceNode {
			nodes, list = nodes[0].Content, []string{}
		}
		for _, n := range nodes {
			if n.Kind != yaml.ScalarNode {
				all.odd = append(all.odd, pairs[i].Value)
			} else if n.Tag != "!!null" {
				list = append(list, n.Value)
			}
		}
		all.values[pairs[i].Value] = list
	}
	return all, nil
}

// entry is one of a list with commas: a name, and in parentheses what of it.
var entry = regexp.MustCompile(`(?:[^,()]|\([^)]*\))+`)

// words are the entries in values, which may have them with commas; nil for nil.
func words(values []string) []string {
	if values == nil {
		return nil
	}
	list := []string{}
	for _, name := range entry.FindAllString(strings.Join(values, ","), -1) {
		if name = strings.Trim(name, ` []"'`); name != "" {
			list = append(list, name)
		}
	}
	return list
}
