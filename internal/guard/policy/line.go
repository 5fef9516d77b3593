package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxLine bounds what is parsed: the parser recurses once for each open bracket.
const maxLine = 32 << 10

// command is one command of a line that is plain words.
type command struct {
	words []string
	// before is the operator that joins it to the previous command: && || | or ;.
	before string
}

// odd are the characters that no plain line has: shells and people may read them
// differently from the parser.
func odd(r rune) bool {
	return r != ' ' && r != '\t' && r != '\n' && (!unicode.IsGraphic(r) || unicode.IsSpace(r))
}

// parse reads a line as a certain kind of shell does.
func parse(line string, lang syntax.LangVariant) (file *syntax.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, fmt.Errorf("it cannot be parsed (%v)", r)
		}
	}()
	switch {
	case len(line) > maxLine:
		return nil, fmt.Errorf("it has more than %d bytes", maxLine)
	case !utf8.ValidString(line):
		return nil, errors.New("it is not UTF-8")
	case strings.ContainsFunc(line, odd):
		return nil, errors.New("it has control characters, or spaces that the shell does not treat as spaces")
	}
	if file, err = syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(line), ""); err != nil {
		return nil, errors.New("it cannot be parsed as shell")
	}
	return file, nil
}

// continuesComment says whether a comment of the line may end with a backslash. For
// shells the comment ends there; the parser joins #\ and the next line first.
func continuesComment(line string) bool {
	return strings.Contains(line, "#") && strings.Contains(line, "\\\n")
}

// plain are the commands of a line that consists only of plain words joined by &&, ||, |,
// ; and newlines. Its error says why a line does not.
func plain(line string) ([]command, error) {
	if continuesComment(line) {
		return nil, errors.New("it has a # and a line that ends with a backslash, which parsers do not agree about")
	}
	commands, err := plainIn(line, syntax.LangBash)
	if err != nil {
		return nil, err
	}
	// bash runs commands if it is installed, otherwise sh does: the line must mean the same
	// to both. No line is known that gets this far and does not.
	same, err := plainIn(line, syntax.LangPOSIX)
	if err != nil || !slices.EqualFunc(commands, same, func(a, b command) bool {
		return a.before == b.before && slices.Equal(a.words, b.words)
	}) {
		return nil, errors.New("it means one thing to bash and another to sh")
	}
	if len(commands) == 0 {
		return nil, errors.New("it runs nothing")
	}
	return commands, nil
}

func plainIn(line string, lang syntax.LangVariant) ([]command, error) {
	file, err := parse(line, lang)
	if err != nil {
		return nil, err
	}
	var l lister
	for _, stmt := range file.Stmts {
		if err := l.statement(stmt, ";"); err != nil {
			return nil, err
		}
	}
	return l.commands, nil
}

// lister collects the commands of a line.
type lister struct{ commands []command }

func (l *lister) statement(s *syntax.Stmt, before string) error {
	if s.Background || s.Coprocess || s.Disown {
		return errors.New("it runs a command in the background")
	}
	if s.Negated {
		return errors.New("it has a ! before a command")
	}
	for _, r := range s.Redirs {
		if !harmless(r) {
			return errors.New("it has a redirection other than to or from /dev/null or between output and errors")
		}
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if len(s.Redirs) > 0 || cmd.Op != syntax.AndStmt && cmd.Op != syntax.OrStmt && cmd.Op != syntax.Pipe {
			return fmt.Errorf("it joins commands by %s", cmd.Op)
		}
		if err := l.statement(cmd.X, before); err != nil {
			return err
		}
		return l.statement(cmd.Y, cmd.Op.String())
	case *syntax.CallExpr:
		return l.call(cmd, before)
	case nil:
		return errors.New("it has a redirection without a command")
	}
	return errors.New("it has shell syntax beyond commands and their words")
}

func (l *lister) call(call *syntax.CallExpr, before string) error {
	if len(call.Assigns) > 0 {
		return errors.New("it assigns a variable")
	}
	c := command{before: before}
	if len(l.commands) == 0 {
		c.before = ""
	}
	for _, w := range call.Args {
		text, err := literal(w)
		if err != nil {
			return err
		}
		c.words = append(c.words, text)
	}
	l.commands = append(l.commands, c)
	return nil
}

// harmless says whether a redirection has no effect: to or from /dev/null, or from output
// to errors or the reverse.
func harmless(r *syntax.Redirect) bool {
	if r.Hdoc != nil || r.Word == nil || r.N != nil && !slices.Contains([]string{"0", "1", "2"}, r.N.Value) {
		return false
	}
	to := r.Word.Lit()
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn:
		return to == "/dev/null"
	case syntax.DplOut:
		return to == "1" || to == "2"
	}
	return false
}

// literal is the text of a word that the shell does not change, except for quotes. Its
// error says what the shell would do to it.
func literal(w *syntax.Word) (string, error) {
	if whole := w.Lit(); whole == "{}" || whole == "[" || whole == "]" {
		return whole, nil
	}
	var b strings.Builder
	for i, part := range w.Parts {
		var err error
		switch p := part.(type) {
		case *syntax.Lit:
			err = bare(&b, p.Value, i == 0)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", errors.New("it has a $'...'")
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			err = doubleQuoted(&b, p)
		default:
			err = errExpands
		}
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

var errExpands = errors.New("it has an expansion or a substitution")

// bare adds text outside of quotes. first says that it begins the word.
func bare(b *strings.Builder, text string, first bool) error {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			i++
			if i == len(text) {
				return errors.New("it ends a word with a backslash")
			}
			b.WriteByte(text[i])
			continue
		case '*', '?', '[':
			return errors.New("it has a glob, which the shell replaces by file names")
		case '{', '}':
			if strings.HasPrefix(text[i:], "{}") { // As in xargs -I{}.
				b.WriteString("{}")
				i++
				continue
			}
			return errors.New("it has braces, which the shell may expand")
		case '~':
			if i == 0 && first || i > 0 && (text[i-1] == '=' || text[i-1] == ':') {
				return errors.New("it has a ~, which the shell may expand")
			}
		case '$':
			// bash and sh treat a dollar before a quote differently.
			if i == len(text)-1 {
				return errors.New("it has a dollar sign outside of quotes")
			}
		}
		b.WriteByte(text[i])
	}
	return nil
}

// doubleQuoted adds text in double quotes.
func doubleQuoted(b *strings.Builder, q *syntax.DblQuoted) error {
	if q.Dollar {
		return errors.New(`it has a $"..."`)
	}
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return errExpands
		}
		text := lit.Value
		for i := 0; i < len(text); i++ {
			if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\\\"$`", text[i+1]) >= 0 {
				i++
			}
			b.WriteByte(text[i])
		}
	}
	return nil
}
