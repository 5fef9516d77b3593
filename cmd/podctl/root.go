package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
)

// program is podctl's environment and the flags of all commands.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	now            func() time.Time
	// every is how often a watching command asks podd; 0 means watchEvery.
	every time.Duration
	// patience is how long standard input may be silent before podctl says that it waits;
	// 0 means inputPatience.
	patience time.Duration
	// startFor is how long to wait for a podd that is being started; 0 means startPatience,
	// a negative value not at all.
	startFor time.Duration
	// whole says that a view draws the whole terminal, and tells itself what else podctl
	// would write there.
	whole bool

	// unknown is the error about a command whose help was asked for, which does not exist.
	unknown error

	at address
	// output and render are the values of --output and --render.
	output, render string
}

// run is podctl: it parses arguments, runs the command and returns the exit code. The end
// of ctx means that the user interrupted it.
func run(ctx context.Context, args []string, p program) int {
	root := newRootCommand(&p)
	root.SetArgs(args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	err := cmp.Or(root.ExecuteContext(ctx), p.unknown)
	err = interruption(ctx, p.explainPod(ctx, p.explainAge(ctx, err)))
	if err != nil {
		fmt.Fprintf(p.stderr, "podctl: %s\n", sanitize.Line(view.LocalTimes(err.Error())))
	}
	return exitCode(err)
}

func newRootCommand(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "podctl",
		Short: "Control podd, which hosts LLM agents as pods",
		Long: "podctl controls podd, which hosts LLM agents as pods: named, durable, and open to any number of clients.\n" +
			"Start podd first: podd &\n" +
			"ps, rm and logs are short for list, delete and tail.",
		Example: "  podctl submit -f \"explain @README.md\"    ask the pod of this directory; created on first use\n" +
			"  podctl attach                            work with it interactively\n" +
			"  podctl tail -f                           watch it from another terminal",
		ValidArgsFunction: completeAliases,
		SilenceErrors:     true,
		SilenceUsage:      true,
	}
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	p.output, p.render = outputText, renderAuto
	p.at.env = p.env
	flags := root.PersistentFlags()
	form := word{&p.output, "FORM", "WORD is not an output format: use text or json", []string{outputText, outputJSON}}
	flags.VarP(form, "output", "o", "output format: text, or json with one object per line")
	flags.StringVarP(&p.at.host, "host", "H", "", "the machine of podd, as ssh://[USER@]HOST[:PORT] (PODD_HOST)")
	flags.StringVar(&p.at.Socket, "socket", "", "podd's Unix socket (PODD_SOCKET)")
	flags.StringVar(&p.at.StateDir, "state-dir", "", "podd's state directory (PODD_STATE_DIR)")
	completeWith(root, "host")
	completeWith(root, "output", form.words...)
	root.AddCommand(
		new(createOptions).command(p), new(listOptions).command(p), new(topOptions).command(p), newTreeCommand(p), newShowCommand(p), new(updateOptions).command(p), newRenameCommand(p),
		new(moveOptions).command(p), new(deleteOptions).command(p), newRestoreCommand(p),
		new(submitOptions).command(p), newRunCommand(p), new(tailOptions).command(p), newAttachCommand(p), new(searchOptions).command(p), new(exportOptions).command(p),
		newInboxCommand(p), newJobsCommand(p), newTriggerCommand(p), new(sendOptions).command(p), new(lettersOptions).command(p), new(cancelOptions).command(p), newPauseCommand(p), new(resumeOptions).command(p),
		newApprovalsCommand(p), new(approveOptions).command(p), new(denyOptions).command(p), new(answerOptions).command(p), newRulesCommand(p), new(alertsOptions).command(p),
		newContextCommand(p), newImageCommand(p), new(trustOptions).command(p), newMCPCommand(p), newPluginCommand(p), newWebCommand(p), new(statsOptions).command(p), newCompactCommand(p),
		new(forkOptions).command(p), new(importOptions).command(p), new(rewindOptions).command(p), new(diffOptions).command(p), new(undoOptions).command(p),
		new(tryOptions).command(p), new(applyOptions).command(p), new(landOptions).command(p),
		newStatusCommand(p), newNodesCommand(p), newReloadCommand(p), newModelsCommand(p), new(acpOptions).command(p), newBridgeCommand(p), newDialStdioCommand(p),
		newVersionCommand(p), newSetupCommand(), newCompletionCommand(p),
	)
	p.finish(root)
	wrapHelp(p, root)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args, help.Short = helpArgs, "Show the help of a command"
		help.Long, help.Example = "Shows the help of podctl or of a command.", "  podctl help jobs logs"
	}
	return root
}

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
