package fold

import (
	"path"
	"strings"
)

// ReadCommand says whether a shell command only shows files: it consists only of cat, sed
// -n with line numbers, head, tail and nl, and each pipeline names at least one file.
// Such an output is worth carrying like a read. file is the one file that it shows,
// cleaned; empty if there are several or a pattern names it. lines are those of the file.
//
// It is strict: a command that it does not understand to the last character is not a
// read. It does not understand redirections, substitutions, variables, escapes, comments,
// background commands and groups.
func ReadCommand(command string) (file string, lines Lines, ok bool) {
	pipelines, ok := splitShell(command)
	if !ok || len(pipelines) == 0 {
		return "", Lines{}, false
	}
	var files []word
	for _, commands := range pipelines {
		before := len(files)
		for _, words := range commands {
			shown, ok := readOperands(words)
			if !ok {
				return "", Lines{}, false
			}
			files = append(files, shown...)
		}
		if len(files) == before {
			return "", Lines{}, false
		}
	}
	for _, f := range files {
		if f.pattern || f.text != files[0].text {
			return "", someLines, true
		}
	}
	lines = someLines
	if len(pipelines) == 1 {
		lines = shownByAll(pipelines[0])
	}
	return path.Clean(files[0].text), lines, true
}

// readOperands are the files that one command shows; ok is false if the command does not
// only show files.
func readOperands(words []word) (files []word, ok bool) {
	name, args := words[0], words[1:]
	if name.quoted || name.pattern {
		return nil, false
	}
	switch name.text {
	case "cat":
		return operands(args, "", "")
	case "head":
		return operands(args, "nc", "")
	case "tail":
		// With -f it would not end.
		return operands(args, "nc", "fF")
	case "nl":
		return operands(args, "bdfhilnsvw", "")
	case "sed":
		return sedOperands(args)
	}
	return nil, false
}

// operands is the rest of a command's arguments without its short options; it does not
// understand long options. valued are the letters of options with a value, refused those
// of options that make the command more than a read.
func operands(args []word, valued, refused string) (files []word, ok bool) {
	for i := 0; i < len(args); i++ {
		switch text := args[i].text; {
		case text == "-":
		case text == "--":
			return append(files, args[i+1:]...), true
		case !strings.HasPrefix(text, "-"):
			files = append(files, args[i])
		case text[1] == '-' || args[i].pattern || strings.ContainsAny(text, refused):
			return nil, false
		case len(text) == 2 && strings.Contains(valued, text[1:]):
			i++
		}
	}
	return files, true
}

// sedOperands is operands for sed: -n, and scripts that print lines by number.
func sedOperands(args []word) (files []word, ok bool) {
	quiet, script := false, false
	for i := 0; i < len(args); i++ {
		text := args[i].text
		switch {
		case text == "-n":
			quiet = true
			continue
		case text == "-":
			continue
		case text == "-e" && i+1 < len(args):
			i++
			text = args[i].text
		case strings.HasPrefix(text, "-"):
			return nil, false
		case script:
			files = append(files, args[i])
			continue
		}
		if !printsLines(text) {
			return nil, false
		}
		script = true
	}
	return files, quiet && script
}

// printsLines says whether a sed script only prints lines that it names by number, like
// "1,20p;40,$p"; "60q", which stops there, may be one of its commands.
func printsLines(script string) bool {
	commands := strings.FieldsFunc(script, func(r rune) bool { return r == ';' || r == '\n' })
	for _, command := range commands {
		if !printsRange(strings.TrimSpace(command)) {
			return false
		}
	}
	return len(commands) > 0
}

func printsRange(command string) bool {
	if line, ok := strings.CutSuffix(command, "q"); ok {
		return lineAddress(line)
	}
	lines, ok := strings.CutSuffix(command, "p")
	first, last, both := strings.Cut(lines, ",")
	return ok && lineAddress(first) && (!both || lineAddress(last))
}

func lineAddress(s string) bool {
	s = strings.TrimSpace(s)
	return s == "$" || s != "" && strings.Trim(s, "0123456789") == ""
}
