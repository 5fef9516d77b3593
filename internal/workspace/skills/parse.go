package skills

import (
	"bytes"
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

// head is the front matter of a skill, or of an agent, which may have tools and a model.
type head struct {
	name, description, model string
	tools                    []string
}

// parse reads a SKILL.md. Its texts have no invisible characters. An error says what is
// wrong and what to write instead.
func parse(file string, text []byte) (h head, body string, err error) {
	if isCommand(file) {
		return parseCommand(file, text)
	}
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(text, []byte("---\n"))
	if !ok {
		return h, "", errors.New("it does not begin with front matter: write --- on the first line, then name and description, then ---")
	}
	front, below, ok := bytes.Cut(rest, []byte("\n---"))
	if !ok || len(below) > 0 && below[0] != '\n' {
		return h, "", errors.New("its front matter has no end: write --- on a line of its own after it")
	}
	if h, err = parseFront(front); err != nil {
		return h, "", err
	}
	body, _ = sanitize.Visible(strings.ToValidUTF8(string(below), "?"))
	if body = strings.TrimSpace(body); body == "" {
		return h, "", errors.New("it says nothing below its front matter")
	}
	return h, body, nil
}

// isCommand says whether a file is a command of a plugin. A command is a skill without the rules of
// one: its name is that of the file.
func isCommand(file string) bool {
	return path.Base(path.Dir(file)) == "commands" && strings.HasSuffix(file, ".md") && path.Base(file) != "SKILL.md"
}

func parseCommand(file string, text []byte) (h head, body string, err error) {
	h = head{name: strings.TrimSuffix(path.Base(file), ".md"), description: "a command that the user may ask for"}
	if !nameForm.MatchString(h.name) || len(h.name) > maxName {
		return h, "", fmt.Errorf("the name of a command must be lower-case letters and digits with single hyphens between them, at most %d", maxName)
	}
	body, _ = sanitize.Visible(strings.ToValidUTF8(string(text), "?"))
	if front, below, ok := strings.Cut(strings.TrimPrefix(body, "---\n"), "\n---\n"); ok && strings.HasPrefix(body, "---\n") {
		body = below
		for l := range strings.Lines(front) {
			if about, ok := strings.CutPrefix(l, "description:"); ok {
				h.description = strings.Trim(strings.TrimSpace(about), `"'`)
			}
		}
	}
	return h, strings.TrimSpace(body), nil
}

func parseFront(front []byte) (h head, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(front, &doc); err != nil {
		return h, fmt.Errorf("its front matter is no YAML (%s): put values with a colon in quotes", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return h, errors.New("its front matter has no name and description")
	}
	// Other keys are for other programs. Nodes are not expanded: an alias is not text.
	pairs := doc.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i].Value == "tools" {
			h.tools = words(pairs[i+1])
		}
		if pairs[i+1].Kind != yaml.ScalarNode {
			continue
		}
		switch pairs[i].Value {
		case "name":
			h.name = pairs[i+1].Value
		case "description":
			h.description = pairs[i+1].Value
		case "model":
			h.model = pairs[i+1].Value
		}
	}
	h.description, _ = sanitize.Visible(strings.ToValidUTF8(h.description, "?"))
	h.description = strings.Join(strings.Fields(h.description), " ")
	if utf8.RuneCountInString(h.description) > maxDescription {
		h.description = string([]rune(h.description)[:maxDescription-1]) + "…"
	}
	switch {
	case len(h.name) > maxName || !nameForm.MatchString(h.name):
		return h, fmt.Errorf("its name must be lower-case letters and digits with single hyphens between them, at most %d", maxName)
	case h.description == "":
		return h, errors.New("it has no description: say what it is for and when to use it")
	}
	return h, nil
}

// words are the names in a list, or in a text with commas.
func words(n *yaml.Node) (list []string) {
	texts := []string{n.Value}
	for _, entry := range n.Content {
		texts = append(texts, entry.Value)
	}
	for _, text := range texts {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" && name != "*" {
				list = append(list, name)
			}
		}
	}
	return list
}
