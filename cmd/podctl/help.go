package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// helpColumns is the width of help on a wide terminal, in a pipe and in a file.
const helpColumns = 100

// wrapHelp breaks the lines of help texts, which have one line for each paragraph.
func wrapHelp(p *program, root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.HasSubCommands() {
			if p.unknown = verbArgs(cmd, cmd.Flags().Args()); p.unknown != nil {
				return
			}
		}
		columns := helpColumns
		if shown := p.columns(p.stdout); shown > 0 {
			columns = min(columns, shown)
		}
		var text strings.Builder
		cmd.SetOut(&text)
		show(cmd, args)
		cmd.SetOut(p.stdout)
		for line := range strings.Lines(text.String()) {
			_, _ = io.WriteString(p.stdout, wrapHelpLine(line, columns))
		}
	})
}

// wrapHelpLine breaks a line of help between words. The lines that follow begin where the
// description of a flag or verb does. An example stays whole, to be copied.
func wrapHelpLine(line string, columns int) string {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	if gap := strings.Index(text, "   "); gap > 0 {
		indent = len(line) - len(strings.TrimLeft(text[gap:], " "))
	} else if indent > 0 {
		return line
	}
	var wrapped strings.Builder
	// A description needs some columns, however narrow the terminal is.
	for columns = max(columns, indent+20); len(strings.TrimRight(line, "\n")) > columns; {
		cut := strings.LastIndexByte(line[indent:columns+1], ' ') + indent
		if cut <= indent {
			break
		}
		wrapped.WriteString(line[:cut] + "\n")
		line = strings.Repeat(" ", indent) + line[cut+1:]
	}
	return wrapped.String() + line
}
