package policy

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is looked at in one line. What is beyond counts as not seen.
const (
	maxSeenDepth = 8
	maxSeenBytes = 256 << 10
	maxSeenWords = 32 << 10
	// maxRunnerWords bounds the places where the command in the arguments of another
	// may begin.
	maxRunnerWords = 64
)

// word is a word of a command that may run. What the shell makes of one that is
// not known may be any number of words.
type word struct {
	text  string
	known bool
}

// seen is what can be seen to run when a line runs: rather too much than too little.
type seen struct {
	commands [][]word
	// hidden says why there may be more; nil when there is not.
	hidden error
	// read has the lines that were looked at, bytes their length.
	read  map[string]bool
	bytes int
	// words counts those of commands.
	words int
}

// look finds the commands of a line, those in substitutions, functions, loops and
// the arguments of others too.
func look(line string) *seen {
	s := &seen{read: map[string]bool{}}
	s.line(line, 0)
	return s
}

func (s *seen) hide(why error) {
	if s.hidden == nil {
		s.hidden = why
	}
}

// line takes the commands of a line, once.
func (s *seen) line(line string, depth int) {
	if s.read[line] {
		return
	}
	s.read[line] = true
	if s.bytes += len(line); depth > maxSeenDepth || s.bytes > maxSeenBytes {
		s.hide(errors.New("it nests commands too deeply"))
		return
	}
	file, err := parse(line, syntax.LangBash)
	if err != nil {
		s.hide(err)
		return
	}
	s.file(file, depth)
	for i, other := range readings(line) {
		// What is a mistake to such a shell does not run in it.
		if file, err := parse(other, syntax.LangPOSIX); err == nil {
			s.file(file, depth)
		}
		if file, err := parse(other, syntax.LangBash); err == nil && i > 0 {
			s.file(file, depth)
		}
	}
}

// readings are the line as shells read it that see commands where bash, or the
// parser, sees none: in ls &>x rm y, and after a comment that ends with a backslash.
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

func (s *seen) file(file *syntax.File, depth int) {
	for node := range syntax.Preorder(file) {
		switch n := node.(type) {
		case *syntax.CallExpr:
			s.add(wordsOf(n.Args), depth)
		case *syntax.DeclClause:
			s.add(wordsOfDeclaration(n), depth)
		}
	}
}

func wordsOf(args []*syntax.Word) []word {
	words := make([]word, len(args))
	for i, w := range args {
		text, err := literal(w)
		words[i] = word{text: text, known: err == nil}
	}
	return words
}

// wordsOfDeclaration are the words of export, declare and their like. Their
// arguments are taken for not known; a rule about them names the program.
func wordsOfDeclaration(d *syntax.DeclClause) []word {
	words := []word{{text: d.Variant.Value, known: true}}
	for range d.Args {
		words = append(words, word{})
	}
	return words
}

// add takes a command, and those in its arguments.
func (s *seen) add(words []word, depth int) {
	if len(words) == 0 {
		return
	}
	if k := kindOf(words[0].text); words[0].known && (k == runner || k == coder) {
		s.command(words, depth)
		s.arguments(words, depth)
		return
	}
	s.command(words, depth)
}

// command takes one command: as it is, without the options that stand before its
// own command, so that git -C dir push is git push, and what find and git are told
// to run.
func (s *seen) command(words []word, depth int) {
	if !s.keep(words) {
		return
	}
	program := words[0]
	if !program.known {
		s.hide(errors.New("the name of a program is an expansion"))
		return
	}
	if len(words) > 2 && (!words[1].known || strings.HasPrefix(words[1].text, "-")) {
		for i := 2; i < min(len(words), maxRunnerWords); i++ {
			s.keep(append([]word{program}, words[i:]...))
		}
	}
	if after := afterExec(words); len(after) > 0 {
		if depth > maxSeenDepth {
			s.hide(errors.New("it nests commands too deeply"))
			return
		}
		s.add(after, depth+1)
	}
	if programName(program.text) == "git" {
		s.aliases(words, depth)
	}
	if isShell(program.text) && !slices.ContainsFunc(words[1:], operand) {
		s.hide(errors.New("it runs what a shell reads from its input"))
	}
}

// keep takes a command for the rules; false when there is no room.
func (s *seen) keep(words []word) bool {
	if s.words += len(words); s.words > maxSeenWords {
		s.hide(errors.New("it has too many commands and words"))
		return false
	}
	s.commands = append(s.commands, words)
	return true
}

// operand says whether a word may be something else than an option.
func operand(w word) bool {
	return !w.known || !strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "+")
}

// arguments takes the commands in the arguments of a program that runs them: each
// argument may be where the command begins, and those of a shell and its like may
// be code.
func (s *seen) arguments(words []word, depth int) {
	if len(words) > maxRunnerWords {
		s.hide(errors.New("it has a command with too many words in the arguments of another"))
	}
	code := false
	for i := 1; i < min(len(words), maxRunnerWords); i++ {
		s.command(words[i:], depth)
		before := words[i-1]
		code = code || before.known && kindOf(before.text) == coder
		if rest, ok := splitString(words[i].text); ok {
			code = true // env -S
			s.line(rest, depth+1)
		}
		if code && words[i].known {
			s.code(words[i:], depth)
		}
	}
}

// splitString is what follows the S of an option -S or -vS.
func splitString(text string) (string, bool) {
	if !strings.HasPrefix(text, "-") || strings.HasPrefix(text, "--") {
		return "", false
	}
	_, rest, ok := strings.Cut(text, "S")
	return rest, ok
}

// code takes an argument as shell code, and the arguments from it on as the line
// that eval and ssh make of them.
func (s *seen) code(words []word, depth int) {
	first := words[0].text
	if _, value, ok := strings.Cut(first, "="); ok {
		s.line(value, depth+1) // alias x='rm y', --split-string=...
	}
	if strings.ContainsAny(first, " \t\n;&|<>()$`\\\"'*?[{~") {
		s.line(first, depth+1)
	}
	if len(words) == 1 {
		return
	}
	var joined []string
	for _, w := range words {
		if !w.known {
			return // The command that begins there is hidden already.
		}
		joined = append(joined, w.text)
	}
	if text := strings.Join(joined, " "); strings.ContainsAny(text, "\n;&|<>()$`\\\"'*?[{~") {
		s.line(text, depth+1)
	}
}

// afterExec is the command that find or fd runs; nil when it runs none.
func afterExec(words []word) []word {
	var marks []string
	switch programName(words[0].text) {
	case "find":
		marks = []string{"-exec", "-execdir", "-ok", "-okdir"}
	case "fd", "fdfind":
		marks = []string{"-x", "-X", "--exec", "--exec-batch"}
	}
	i := slices.IndexFunc(words, func(w word) bool { return w.known && slices.Contains(marks, w.text) })
	if i < 0 || i+1 == len(words) {
		return nil
	}
	return words[i+1:]
}

// aliases takes what git is told on its command line to run: alias.x=!command.
func (s *seen) aliases(words []word, depth int) {
	for _, w := range words[1:] {
		if _, code, ok := strings.Cut(w.text, "=!"); ok && w.known {
			s.line(code, depth+1)
		}
	}
}
