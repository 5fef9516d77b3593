package shell

import (
	"slices"
	"strings"
)

// oneALine puts each command of a line on its own line.
var oneALine = strings.NewReplacer("&&", "\n", "||", "\n", ";", "\n", "|", "\n")

// readsOnly says whether a command only prints files: it consists of cat, sed -n, head,
// tail and nl. Its output is then treated as a read. path is the file as written, empty
// unless there is exactly one. If in doubt, the answer is no.
func readsOnly(command string) (path string, ok bool) {
	if strings.ContainsAny(command, "><`$(){}\\#*?[") {
		return "", false
	}
	var files []string
	for part := range strings.Lines(oneALine.Replace(command)) {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		operands, reads := readerOperands(words[0], words[1:])
		if !reads || slices.Contains(words, "&") {
			return "", false
		}
		files = append(files, operands...)
		ok = true
	}
	if len(files) == 1 {
		path = strings.Trim(files[0], `'"`)
	}
	return path, ok
}

// readerOperands are the files that a command names, if it only reads.
func readerOperands(name string, args []string) (files []string, ok bool) {
	if !slices.Contains([]string{"cat", "sed", "head", "tail", "nl"}, name) || slices.Contains(args, "-f") {
		return nil, false
	}
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case (arg == "-n" || arg == "-c") && (name == "head" || name == "tail"):
			i++
		case !strings.HasPrefix(arg, "-"):
			files = append(files, arg)
		}
	}
	if name != "sed" {
		return files, true
	}
	if len(args) < 2 || args[0] != "-n" || strings.ContainsAny(args[1], "we") || len(files) == 0 {
		return nil, false
	}
	// The script is not a file.
	return files[1:], true
}
