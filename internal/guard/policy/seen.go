package policy

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is examined in one line. Anything beyond is treated as hidden.
const (
	maxSeenDepth = 8
	maxSeenBytes = 256 << 10
)

// word is a word of a command that may run. The shell may expand an unknown word to any
// number of words.
type word struct {
	text  string
	known bool
	// partly says that a part of an unknown word is known.
	partly bool
}

// execution is a command that may run, and those in its own words.
type execution struct {
	words []word
	// starts says of each word whether a command may begin there.
	starts []bool
}

// seen is what is visible of the commands that a line runs.
type seen struct {
	commands []execution
	// text are the words that a program of the line may run, in lower case and without
	// quotes. It omits the words of commands that only read.
	text strings.Builder
	// hidden says why there may be more commands; nil if there are not.
	hidden error
	// read has the examined lines, bytes their length.
	read  map[string]bool
	bytes int
}

// findCommands finds the commands of a line, including those in substitutions, functions, loops,
// code for shells and the arguments of wrappers.
func findCommands(line string) *seen {
	s := &seen{read: map[string]bool{}}
	s.line(line, 0)
	return s
}

func (s *seen) hide(format string, args ...any) {
	if s.hidden == nil {
		s.hidden = fmt.Errorf(format, args...)
	}
}

// line adds the commands of a line, once.
func (s *seen) line(line string, depth int) {
	if s.read[line] {
		return
	}
	s.read[line] = true
	if s.bytes += len(line); depth > maxSeenDepth || s.bytes > maxSeenBytes {
		s.hide("it nests commands too deeply")
		return
	}
	file, err := parse(line, syntax.LangBash)
	if err != nil {
		s.hide("%w", err)
		return
	}
	s.file(file, depth)
	for i, other := range readings(line) {
		// Such a shell does not run what is a syntax error to it.
		if file, err := parse(other, syntax.LangPOSIX); err == nil {
			s.file(file, depth)
		}
		if file, err := parse(other, syntax.LangBash); err == nil && i > 0 {
			s.file(file, depth)
		}
	}
}

// readings are further readings of the line, by shells that see commands where bash, or
// the parser, sees none: in ls &>x rm y, and after a comment that ends with a backslash.
func readings(line string) []string {
	all := []string{line}
	if continuesComment(line) {
		all = append(all, strings.ReplaceAll(line, "\\\n", "\n"))
	}
	if strings.Contains(line, "&>") {
		all = append(all, strings.ReplaceAll(line, "&>", "& >"))
	}
	return all
}

func wordsOf(args []*syntax.Word) []word {
	words := make([]word, len(args))
	for i, w := range args {
		text, err := literal(w)
		partly := slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
			q, quoted := p.(*syntax.DblQuoted)
			_, lit := p.(*syntax.Lit)
			return lit || quoted && len(q.Parts) > 1
		})
		words[i] = word{text: text, known: err == nil, partly: partly}
	}
	return words
}

// wordsOfDeclaration are the words of export, declare and similar commands. Their
// arguments are treated as unknown; a rule about them names the program.
func wordsOfDeclaration(d *syntax.DeclClause) []word {
	words := []word{{text: d.Variant.Value, known: true}}
	for range d.Args {
		words = append(words, word{})
	}
	return words
}

// command adds one command, and what its words make run. fed says that its input is in
// the line, or a file.
func (s *seen) command(words []word, fed bool, depth int) {
	starts := startsOf(words)
	for i, w := range words {
		if !starts[i] || s.bytes > maxSeenBytes {
			continue
		}
		if !w.known || w.text == "{}" && kindOf(words[0].text) == ordinary {
			s.hide("the name of a program is an expansion")
			break
		}
		switch rest := words[i+1:]; kindOf(w.text) {
		case shell:
			s.shell(w.text, rest, depth)
		case evaluator:
			s.evaluator(rest, depth)
		case interpreter:
			if i == 0 || !slices.ContainsFunc(words[1:i], operand) {
				s.interpreter(w.text, rest, fed)
			}
		case runner:
			if i > 0 && programName(words[0].text) == "xargs" && !slices.ContainsFunc(rest, operand) {
				s.hide("%s runs what xargs reads", quoted(w.text))
			}
		}
	}
	if slices.ContainsFunc(words, func(w word) bool { return programName(w.text) == "xargs" }) {
		words, starts = append(slices.Clip(words), word{}), append(starts, false)
	}
	s.commands = append(s.commands, execution{words, starts})
}

// operand says whether a word in the arguments of a wrapper is the command that it runs:
// not an option, assignment or number.
func operand(w word) bool {
	return !w.known || strings.Trim(w.text, "0123456789.smh") != "" && w.text[0] != '-' && !assignment.MatchString(w.text)
}

// startsOf says of each word of a command whether a command may begin there: at the first
// word, at each argument of a wrapper, and where find and fd run one.
func startsOf(words []word) []bool {
	starts := make([]bool, len(words))
	starts[0] = true
	program := programName(words[0].text)
	var marks []string
	switch program {
	case "find":
		marks = []string{"-exec", "-execdir", "-ok", "-okdir"}
	case "fd", "fdfind":
		marks = []string{"-x", "-X", "--exec", "--exec-batch"}
	}
	k := kindOf(program)
	if program == "command" && len(words) > 1 && strings.EqualFold(words[1].text, "-v") {
		return starts // It looks a program up.
	}
	for i := 1; i < len(words); i++ {
		starts[i] = k == runner || k == evaluator || slices.Contains(marks, words[i-1].text)
	}
	return starts
}

// codeOf is what a shell runs: the index of its code or script among its arguments; -1 if
// it reads its input, or the index is unknown.
func codeOf(args []word) (at int, code bool) {
	for i := 0; i < len(args) && args[i].known; i++ {
		text := args[i].text
		switch {
		case text == "" || text[0] != '-' && text[0] != '+':
			if code || text != "/dev/stdin" && !strings.HasPrefix(text, "/dev/fd/") && !strings.HasPrefix(text, "/proc/") {
				return i, code
			}
			return -1, false
		case strings.HasPrefix(text, "--rcfile"), strings.HasPrefix(text, "--init-file"):
			return -1, false
		case text == "-" || strings.HasPrefix(text, "--"):
			// bash -- script
		case !code && strings.Contains(text, "s"):
			return -1, false
		default:
			code = code || strings.Contains(text, "c")
			if strings.ContainsAny(text, "oO") {
				i++
			}
		}
	}
	return -1, false
}

func (s *seen) shell(name string, args []word, depth int) {
	switch at, code := codeOf(args); {
	case len(args) == 0 && (name == "." || name == "source"):
		// It does nothing.
	case at < 0:
		s.hide("%s runs what it reads, or an expansion", quoted(name))
	case code:
		s.line(args[at].text, depth+1)
	}
}

// evaluator adds the arguments of eval and similar commands as one line.
func (s *seen) evaluator(args []word, depth int) {
	var line strings.Builder
	for _, w := range args {
		line.WriteString(w.text + " ")
	}
	s.line(line.String(), depth+1)
}

// interpreter examines the arguments of an interpreter of another language.
func (s *seen) interpreter(name string, args []word, fed bool) {
	at := slices.IndexFunc(args, func(w word) bool { return !w.known || !strings.HasPrefix(w.text, "-") || w.text == "-" })
	switch {
	case at < 0 && len(args) == 1 && slices.Contains([]string{"--version", "--help", "-V"}, args[0].text), at == 0 && !args[0].known:
		// It runs nothing, or a script.
	case at < 0 || args[at].text == "-":
		if !fed {
			s.hide("%s runs what it reads", quoted(name))
		}
	case !args[at].known && !args[at].partly && strings.ContainsAny(args[at-1].text, "ceEr"):
		s.hide("the code for %s is an expansion", quoted(name))
	}
}
