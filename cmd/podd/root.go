package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"podd/internal/ops/systemd"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/paths"
)

// program is podd's environment.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	// hurry is closed to cut a drain short.
	hurry <-chan struct{}
	// restarts says whether podd starts again at once.
	restarts func() bool
	// hangup asks to read the configuration again.
	hangup <-chan os.Signal
	// manager takes what the service manager passed to this process; nil without one.
	manager func() (systemd.Start, error)
	// flush waits until what a command that serves has logged is written; nil for the others.
	flush func()
	// unknown is the error about a command whose help was asked for, which does not exist.
	unknown error
	// places are the flags that name sockets, directories and files.
	places paths.Flags
}

// Exit codes of podd. Go ends a program that crashes with 2, so podd never does: a service manager
// restarts podd after a crash, and not after exitUsage and exitDamaged.
const (
	exitDone   = 0
	exitFailed = 1
	// exitUsage is a wrong command line or configuration: EX_USAGE of sysexits(3).
	exitUsage = 64
	// exitDamaged is a damaged database: a person has to decide how to continue. The start after
	// a commit that met damage reads the whole file before it says so.
	exitDamaged = 3
)

// run is podd: it parses arguments, runs the command and returns the exit code. The end of
// ctx drains it.
func run(ctx context.Context, args []string, p program) int {
	root := newRootCommand(&p)
	root.SetArgs(args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	err := cmp.Or(root.ExecuteContext(ctx), p.unknown)
	if p.flush != nil {
		defer p.flush()
	}
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
		Short: "Host LLM agents as pods",
		Long: "podd hosts LLM agents as pods: named, durable, and open to any number of clients. Without a command it serves\n" +
			"in the foreground. Use podctl to work with it.",
		Args:          noArgs,
		RunE:          serve.RunE,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.DisableDefaultCmd = true
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.HasSubCommands() {
			if p.unknown = noArgs(cmd, cmd.Flags().Args()); p.unknown != nil {
				return
			}
		}
		help(cmd, args)
	})
	flags := root.PersistentFlags()
	flags.StringVar(&p.places.Socket, "socket", "", "Unix socket to listen on (PODD_SOCKET)")
	flags.StringVar(&p.places.StateDir, "state-dir", "", "state directory (PODD_STATE_DIR)")
	flags.StringVar(&p.places.Config, "config", "", "configuration file (PODD_CONFIG)")
	root.Flags().AddFlagSet(serve.Flags())
	root.AddCommand(serve, newConfigCommand(p), newDemoCommand(p), newVersionCommand(), newServiceCommand(p), newSetupCommand(p),
		newCheckCommand(p), newBackupCommand(p), newCompactStoreCommand(p), newMigrateCommand(p), newWebCommand(p), newWebChildCommand(), newCheckFileCommand(p))
	return root
}

// noArgs refuses arguments, including an unknown command.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unknown command or argument %q; see podd --help", args[0])}
	}
	return nil
}
