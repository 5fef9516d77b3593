package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Executed are the files that the commands of a line are known to execute: programs named
// by a path, the scripts of interpreters, and the files that tell make, npm and similar
// programs what to run. Each is a list of paths, relative to where the line begins, of
// which the first existing one is used. There may be others: a person sees the files
// beside the line, and they do not limit what runs.
func Executed(line string) [][]string {
	var e executed
	e.line(line, 0)
	return e.files
}

type executed struct {
	files [][]string
	// dir is the directory after the line's cd commands.
	dir string
}

// maxExecuted bounds the files of one line.
const maxExecuted = 16

func (e *executed) add(names ...string) {
	for i, name := range names {
		if !path.IsAbs(name) {
			names[i] = path.Join(e.dir, name)
		}
	}
	known := slices.ContainsFunc(e.files, func(f []string) bool { return slices.Equal(f, names) })
	if len(e.files) < maxExecuted && !known {
		e.files = append(e.files, names)
	}
}

// line adds the commands of a line, as far as their words are plain.
func (e *executed) line(line string, depth int) {
	file, err := parse(line, syntax.LangBash)
	if err != nil || depth > 2 {
		return
	}
	for node := range syntax.Preorder(file) {
		call, ok := node.(*syntax.CallExpr)
		if !ok {
			continue
		}
		var words []string
		for _, w := range call.Args {
			text, err := literal(w)
			if err != nil {
				text = "" // It may be any text.
			}
			words = append(words, text)
		}
		e.command(words, depth)
	}
}

// scripts are the interpreters whose first operand is a script, and the options after
// which code replaces it.
var scripts = map[string][]string{
	"sh": {"-c"}, "bash": {"-c"}, "dash": {"-c"}, "zsh": {"-c"}, "ksh": {"-c"}, "fish": {"-c"}, "source": nil, ".": nil,
	"python": {"-c", "-m"}, "python2": {"-c", "-m"}, "python3": {"-c", "-m"}, "node": {"-e", "-p"}, "ruby": {"-e"}, "perl": {"-e", "-E"},
	"php": {"-r"}, "lua": {"-e"}, "Rscript": {"-e"}, "ts-node": {"-e"}, "tsx": {"-e"}, "deno": nil, "bun": nil,
}

// recipes are the programs that run what a file of the directory contains, with the
// file's names.
var recipes = map[string][]string{
	"make": {"GNUmakefile", "makefile", "Makefile"}, "gmake": {"GNUmakefile", "makefile", "Makefile"},
	"just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml"}, "rake": {"rakefile", "Rakefile"},
	"npm": {"package.json"}, "pnpm": {"package.json"}, "yarn": {"package.json"}, "bun": {"package.json"},
}

func (e *executed) command(words []string, depth int) {
	if len(words) == 0 || words[0] == "" {
		return
	}
	program, args := path.Base(words[0]), words[1:]
	if strings.Contains(words[0], "/") {
		e.add(words[0])
	}
	switch {
	case program == "cd" && len(args) == 1 && args[0] != "" && args[0] != "-":
		if e.dir = path.Join(e.dir, args[0]); path.IsAbs(args[0]) {
			e.dir = args[0]
		}
	case program == "go" && len(args) > 0 && args[0] == "run":
		e.sources(args[1:])
	case kindOf(program) == runner:
		for i, arg := range args {
			e.command(args[i:], depth+1)
			if operand(word{text: arg, known: true}) {
				return
			}
		}
	}
	if codes, ok := scripts[program]; ok {
		e.script(args, codes, depth)
	}
	if names, ok := recipes[program]; ok {
		e.recipe(args, names)
	}
}

// sources are the files that go run names.
func (e *executed) sources(args []string) {
	for _, arg := range args {
		if strings.HasSuffix(arg, ".go") {
			e.add(arg)
		} else if !strings.HasPrefix(arg, "-") {
			return
		}
	}
}

// script returns the operands of an interpreter up to the first that follows no option:
// one that does may be the option's value.
func (e *executed) script(args, codes []string, depth int) {
	for i, arg := range args {
		if isCode(arg, codes) {
			if i+1 < len(args) && slices.Equal(codes, []string{"-c"}) {
				e.line(args[i+1], depth+1)
			}
			return
		}
		if arg == "" || strings.HasPrefix(arg, "-") {
			continue
		}
		e.add(arg)
		if i == 0 && arg == "run" {
			continue // deno run, bun run
		}
		if i == 0 || !strings.HasPrefix(args[i-1], "-") {
			return
		}
	}
}

// isCode says whether an option is followed by code: -c, or -xc.
func isCode(arg string, codes []string) bool {
	return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && slices.ContainsFunc(codes, func(code string) bool {
		return strings.HasSuffix(arg, code[1:])
	})
}

// recipe returns the file that a program like make reads: the one after -f, or that of
// the directory, which -C may name.
func (e *executed) recipe(args, names []string) {
	dir, given := "", false
	for i, arg := range args {
		value := ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		switch option, after, long := strings.Cut(arg, "="); option {
		case "-C", "--directory", "--prefix", "--cwd", "--dir":
			if dir = value; long {
				dir = after
			}
		case "-f", "--file", "--makefile", "--justfile", "--taskfile", "--rakefile":
			if given = true; long {
				value = after
			}
			e.add(path.Join(dir, value))
		}
	}
	if given {
		return
	}
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = path.Join(dir, name)
	}
	e.add(all...)
}
