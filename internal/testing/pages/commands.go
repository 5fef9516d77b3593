package pages

import (
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Command is a call of podd or podctl on a page.
type Command struct {
	// Where is the page and the line.
	Where string
	// Args begin with the program's name. What a shell would have to expand is "x".
	Args []string
	// Mention says that it is a few words in a sentence: arguments may be missing.
	Mention bool
}

// Commands are the page's calls of a program, in blocks and in sentences.
func (p Page) Commands(program string) ([]Command, error) {
	var commands []Command
	for _, b := range p.Blocks() {
		script, shell := b.Script()
		if !shell {
			continue
		}
		calls, err := callsOf(script, program)
		if err != nil && b.Language != "" {
			return nil, fmt.Errorf("%s: the block at line %d is not shell: %w", p.Name, b.Line, err)
		}
		for _, c := range calls {
			commands = append(commands, Command{Where: fmt.Sprintf("%s:%d", p.Name, b.Line+c.line-1), Args: c.args})
		}
	}
	return append(commands, p.mentions(program)...), nil
}

// mentions are the calls in sentences, except those that are not shell, such as "podctl
// submit @<TAB>".
func (p Page) mentions(program string) []Command {
	var commands []Command
	for n, line := range p.prose {
		if strings.HasPrefix(line, "    ") {
			continue
		}
		for _, span := range code.FindAllString(line, -1) {
			span = strings.Trim(span, "`")
			if !strings.HasPrefix(span, program+" ") || strings.ContainsAny(span, "[|") {
				continue
			}
			calls, err := callsOf(span, program)
			if err != nil {
				continue
			}
			for _, c := range calls {
				commands = append(commands, Command{Where: fmt.Sprintf("%s:%d", p.Name, n), Args: c.args, Mention: true})
			}
		}
	}
	return commands
}

// Script is the part of a block that a person would type, and whether it is shell: the
// block itself, or the commands after "$ " of a session with its output. The lines keep
// their numbers.
func (b Block) Script() (string, bool) {
	session := b.Language == "console" || b.Language == "" && (strings.HasPrefix(b.Text, "$ ") || strings.Contains(b.Text, "\n$ "))
	switch {
	case b.Language == "sh" || b.Language == "bash" || b.Language == "" && !session:
		return b.Text, true
	case !session:
		return "", false
	}
	var script strings.Builder
	command := ""
	for line := range strings.Lines(b.Text) {
		typed, prompt := strings.CutPrefix(line, "$ ")
		switch {
		case prompt:
			command = typed
		case incomplete(command):
			typed = strings.TrimPrefix(line, "> ")
			command += typed
		default:
			typed = "\n"
		}
		script.WriteString(typed)
	}
	return script.String(), true
}

// incomplete says whether a command lacks its next line, such as one of a here-document.
func incomplete(command string) bool {
	_, err := parse(command)
	return err != nil
}

func parse(script string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
}

type call struct {
	line int
	args []string
}

// callsOf are the calls of a program in a script, including those after env, timeout and
// similar words.
func callsOf(script, program string) ([]call, error) {
	file, err := parse(script)
	if err != nil {
		return nil, err
	}
	var calls []call
	syntax.Walk(file, func(node syntax.Node) bool {
		if c, ok := node.(*syntax.CallExpr); ok {
			for i, word := range c.Args {
				if text := textOf(word.Parts); text == program || strings.HasSuffix(text, "bin/"+program) {
					args := []string{program}
					for _, word := range c.Args[i+1:] {
						args = append(args, textOf(word.Parts))
					}
					calls = append(calls, call{line: int(c.Pos().Line()), args: args}) //nolint:gosec // a page has few lines
					break
				} else if !prefix.MatchString(text) {
					break
				}
			}
		}
		return true
	})
	return calls, nil
}

// prefix is a word that may precede the program of a command line.
var prefix = regexp.MustCompile(`^(env|timeout|watch|exec|nohup|time|sudo|-.*|[0-9]+[smh]?|\w+=.*)$`)

func textOf(parts []syntax.WordPart) string {
	var text strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(part.Value)
		case *syntax.SglQuoted:
			text.WriteString(part.Value)
		case *syntax.DblQuoted:
			text.WriteString(textOf(part.Parts))
		default:
			text.WriteString("x")
		}
	}
	return text.String()
}
