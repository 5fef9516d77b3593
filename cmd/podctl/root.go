package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/paths"
	"podd/internal/sanitize"
)

// program is what podctl has of the world outside, and the flags of all verbs.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	now            func() time.Time
	// every is how often a watching verb asks podd; 0 means watchEvery.
	every time.Duration
	// patience is how long standard input may be silent; 0 means inputPatience.
	patience time.Duration
	// startFor is how long a podd that is being started is waited for; 0 means
	// startPatience, negative not at all.
	startFor time.Duration

	places paths.Flags
	output output
}

// run is podctl: it parses arguments, does what they say and returns the exit code.
// The end of ctx is an interruption by the user.
func run(ctx context.Context, args []string, p program) int {
	root := newRootCommand(&p)
	root.SetArgs(args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	err := interruption(ctx, p.explainAge(ctx, root.ExecuteContext(ctx)))
	if err != nil {
		fmt.Fprintf(p.stderr, "podctl: %s\n", sanitize.Line(view.LocalTimes(err.Error())))
	}
	return exitCode(err)
}

func newRootCommand(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "podctl",
		Short: "podctl talks to podd, which hosts LLM agents as pods",
		Long: "podctl talks to podd, which hosts LLM agents as pods: named, durable, with any number of\n" +
			"clients that come and go. Start podd first: podd &",
		Example: "  podctl submit -f \"explain @README.md\"   ask the pod of this directory, made on first use\n" +
			"  podctl tail -f                           watch it from another terminal",
		Args:          verbArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	p.output = outputText
	flags := root.PersistentFlags()
	flags.VarP(&p.output, "output", "o", "text, or json: one object a line")
	flags.StringVar(&p.places.Socket, "socket", "", "podd's socket (PODD_SOCKET)")
	flags.StringVar(&p.places.StateDir, "state-dir", "", "podd's state directory (PODD_STATE_DIR)")
	completeWith(root, "output", string(outputText), string(outputJSON))
	root.AddCommand(
		newCreateCommand(p), newListCommand(p), newShowCommand(p), newUpdateCommand(p), newDeleteCommand(p),
		newSubmitCommand(p), newTailCommand(p), newAttachCommand(p), newInboxCommand(p), newNotifyCommand(p),
		newCancelCommand(p), newPauseCommand(p), newResumeCommand(p),
		newApprovalsCommand(p), newApproveCommand(p), newDenyCommand(p), newAlertsCommand(p),
		newContextCommand(p), newTrustCommand(p), newMCPCommand(p), newStatsCommand(p), newCompactCommand(p), newForkCommand(p), newRewindCommand(p),
		newStatusCommand(p), newReloadCommand(p), newACPCommand(p), newBridgeCommand(p), newVersionCommand(p), newCompletionCommand(p),
	)
	p.podFlags(root)
	return root
}
