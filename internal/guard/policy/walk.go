package policy

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// file adds the commands of a parsed line, and the text of those that may run what their
// words name.
func (s *seen) file(file *syntax.File, depth int) {
	quiet, all := quietCalls(file)
	w := walker{seen: s, quiet: quiet, all: all, loud: map[*syntax.Stmt]bool{}, skipped: map[*syntax.Word]bool{}, programs: map[*syntax.Word]bool{}}
	for node := range syntax.Preorder(file) {
		w.node(node, depth)
	}
}

// walker goes through a line.
type walker struct {
	seen *seen
	// quiet are the commands that run nothing that their words name; all says that there are
	// no others. The output of any other goes to a command.
	quiet map[*syntax.CallExpr]bool
	all   bool
	loud  map[*syntax.Stmt]bool
	// skipped are words that are not text, programs those that were compared with rules.
	skipped, programs map[*syntax.Word]bool
}

func (w *walker) node(node syntax.Node, depth int) {
	switch n := node.(type) {
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			w.hear(n.X, n.Y)
		}
	case *syntax.CmdSubst:
		w.hear(n.Stmts...)
	case *syntax.ProcSubst:
		w.hear(n.Stmts...)
	case *syntax.Stmt:
		w.statement(n, depth)
	case *syntax.ParamExp:
		if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
			w.seen.hide("it has ${...@...}, which the shell may run")
		}
	case *syntax.Word:
		if w.skipped[n] {
			return
		}
		w.seen.text.WriteByte(' ')
		if w.programs[n] {
			w.seen.text.WriteString(asProgram)
		}
		w.seen.word(n.Parts)
	}
}

func (w *walker) hear(stmts ...*syntax.Stmt) {
	for _, s := range stmts {
		w.loud[s] = true
	}
}

// statement adds the command of a statement.
func (w *walker) statement(s *syntax.Stmt, depth int) {
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		words := wordsOf(cmd.Args)
		if len(words) == 0 {
			return
		}
		w.seen.command(words, len(s.Redirs) > 0, depth)
		w.programs[cmd.Args[0]] = !configures(words)
		if !w.quiet[cmd] || !w.all && (w.loud[s] || slices.ContainsFunc(s.Redirs, writes)) {
			return
		}
		for _, word := range cmd.Args {
			w.skipped[word] = true
		}
		for _, r := range s.Redirs {
			w.skipped[r.Word], w.skipped[r.Hdoc] = true, true
		}
	case *syntax.DeclClause:
		w.seen.command(wordsOfDeclaration(cmd), false, depth)
	}
}

// quietCalls are the commands that run nothing that their words name; all says that the
// line has no others.
func quietCalls(file *syntax.File) (quiet map[*syntax.CallExpr]bool, all bool) {
	quiet, all = map[*syntax.CallExpr]bool{}, true
	for node := range syntax.Preorder(file) {
		switch n := node.(type) {
		case *syntax.FuncDecl:
			return nil, false // It may have the name of any program.
		case *syntax.CallExpr:
			words := wordsOf(n.Args)
			if len(words) > 0 && slices.Contains([]string{"alias", "enable", "hash"}, words[0].text) {
				return nil, false
			}
			quiet[n] = len(n.Assigns) == 0 && inert(words)
			all = all && (quiet[n] || len(words) == 0)
		}
	}
	return quiet, all
}

// configures says whether an option defines a program's own commands: git -c
// alias.x=push.
func configures(words []word) bool {
	return len(words) > 1 && (!words[1].known || strings.HasPrefix(words[1].text, "-c") || strings.HasPrefix(words[1].text, "--c") || words[1].text == "config")
}

func writes(r *syntax.Redirect) bool {
	return !slices.Contains([]syntax.RedirOperator{syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc}, r.Op) && !harmless(r)
}

// word adds the text of a word, without its quotes and those of code in it: r\m and 'r'm
// are rm. Another reading has blanks for backslash escapes of programs: printf '\trm'.
func (s *seen) word(parts []syntax.WordPart) {
	text := strings.ToLower(s.raw(parts))
	s.text.WriteString(unquote.Replace(text))
	if strings.Contains(text, `\`) {
		s.text.WriteString(" " + escaped.ReplaceAllString(text, " "))
	}
}

// raw is the literal part of a word, with a blank for the rest.
func (s *seen) raw(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if programGlob.MatchString(p.Value) {
				s.hide("it has a glob over a directory of programs")
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(harmlessEscapes.Replace(p.Value), `\`) {
				s.hide("it has a $'...' that encodes characters")
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			b.WriteString(s.raw(p.Parts))
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

var (
	unquote         = strings.NewReplacer("\\\n", "", `\`, "", "'", "", `"`, "")
	escaped         = regexp.MustCompile(`\\.|['"]`)
	harmlessEscapes = strings.NewReplacer(`\n`, "", `\t`, "", `\'`, "", `\\`, "")
	programGlob     = regexp.MustCompile(`bin/.*[*?[]`)
)

// asProgram precedes the program of a command in the text: it was compared as a program.
const asProgram = "\x01"
