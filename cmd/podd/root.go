package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"podd/internal/ops/systemd"
	"podd/internal/paths"
	"podd/internal/sanitize"
	"podd/pkg/item"
)

// program is what podd has of the world outside.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	// hurry is closed when a drain is to be cut short.
	hurry <-chan struct{}
	// hangup asks to read the configuration again.
	hangup <-chan os.Signal
	// manager takes what the service manager gave to this process; nil when there is none.
	manager func() (systemd.Start, error)
	// places are the flags that name them.
	places paths.Flags
}

// Exit codes of podd.
const (
	exitDone   = 0
	exitFailed = 1
	// exitUsage is a wrong command line or configuration.
	exitUsage = 2
	// exitDamaged is a damaged database: a person has to say what to go on with.
	exitDamaged = 3
)

// run is podd: it parses arguments, does what they say and returns the exit code.
// ctx ends it gracefully.
func run(ctx context.Context, args []string, p program) int {
	root := newRootCommand(&p)
	root.SetArgs(args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(p.stderr, "podd: %s\n", sanitize.Line(err.Error()))
	return exitCode(err)
}

// usageError is a wrong command line.
type usageError struct{ error }

// Unwrap is the parser's error.
func (e usageError) Unwrap() error { return e.error }

func exitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok || item.KindOf(err) == item.KindInvalid {
		return exitUsage
	}
	if item.KindOf(err) == item.KindDataLoss {
		return exitDamaged
	}
	return exitFailed
}

func newRootCommand(p *program) *cobra.Command {
	serve := newServeCommand(p)
	root := &cobra.Command{
		Use:   "podd",
		Short: "podd hosts LLM agents as pods",
		Long: "podd hosts LLM agents as pods: named, durable, with any number of clients that come and go.\n" +
			"Without a verb it serves in the foreground. Talk to it with podctl.",
		Args:          noArgs,
		RunE:          serve.RunE,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.DisableDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVar(&p.places.Socket, "socket", "", "the socket to listen at (PODD_SOCKET)")
	flags.StringVar(&p.places.StateDir, "state-dir", "", "where podd keeps its state (PODD_STATE_DIR)")
	flags.StringVar(&p.places.Config, "config", "", "the configuration file (PODD_CONFIG)")
	root.Flags().AddFlagSet(serve.Flags())
	root.AddCommand(serve, newConfigCommand(p), newDemoCommand(p), newVersionCommand(), newServiceCommand(p),
		newCheckCommand(p), newBackupCommand(p), newCompactStoreCommand(p), newCheckFileCommand(p))
	return root
}

// noArgs refuses arguments, an unknown verb among them.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unknown command or argument %q; see podd --help", args[0])}
	}
	return nil
}
