package builtin

import (
	"context"
	"log/slog"

	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
)

// Main makes this process a helper of the shell tool when it was started as one, and
// does not return then. A program that runs the shell tool calls it first in main,
// before it opens or starts anything: without Main there are no Landlock sandbox and no
// Starter.
func Main() {
	sandbox.Main()
	shim.Main()
}

// SandboxConfig says how commands are to be confined. The zero value is ready.
type SandboxConfig struct {
	// Mode is "auto", "bwrap", "landlock" or "off"; empty means "auto": bwrap, else
	// Landlock.
	Mode string
	// Required refuses commands where no sandbox works.
	Required bool
	// Network lets commands reach the network.
	Network bool
	// Read are files and directories that can be read also where they would be hidden by
	// default. One that would not be begins a list: all that can be read beside the
	// system's own and the pod's roots.
	Read []string
	// Write are directories that every pod's commands can change.
	Write []string
	// MaxMemory is how much memory a command and all that it starts may hold, in bytes;
	// 0 means half of what there is.
	MaxMemory int64
	// Hidden are files and directories of the program itself, such as its store.
	Hidden []string
	// Environ is the program's environment, which names further places to hide; nil
	// means os.Environ.
	Environ []string
}

// What becomes of a command, see Sandbox.Fate.
const (
	FateConfined = sandbox.Confined
	FateAsk      = sandbox.Ask
	FateRefuse   = sandbox.Refuse
	FateRun      = sandbox.Run
)

// Sandbox confines the commands of the shell tool. It is safe for concurrent use.
type Sandbox struct{ box *sandbox.Sandbox }

// DetectSandbox tries the sandboxes that c allows, with real commands, and gives the
// first that works. It never fails: Why says what does not work.
func DetectSandbox(ctx context.Context, c SandboxConfig) *Sandbox {
	return &Sandbox{sandbox.Detect(ctx, sandbox.Config(c))}
}

// Mode is "bwrap", "landlock" or "none".
func (s *Sandbox) Mode() string { return s.box.Mode() }

// Why says in a clause why the mode is not a better one; empty for the best.
func (s *Sandbox) Why() string { return s.box.Why() }

// Fate is what becomes of a command: FateConfined, or without a sandbox FateRefuse,
// FateAsk where a person is asked before it, or FateRun.
func (s *Sandbox) Fate() string { return s.box.Fate() }

// Refuses is a sentence when commands must not run, else empty.
func (s *Sandbox) Refuses() string { return s.box.Refuses() }

// Credentials is how many files and directories with credentials of the user are
// hidden.
func (s *Sandbox) Credentials() int { return s.box.Credentials() }

// Allow is for a change of a protected path that a person agreed to while commands run.
// Without a sandbox, nil, it does nothing.
func (s *Sandbox) Allow(path string) {
	if s != nil {
		s.box.Allow(path)
	}
}

// Starter starts commands in a process of its own, which notes how they end even when
// this process is killed. Close must follow.
type Starter struct{ client *shim.Client }

// OpenStarter is an error in a program that does not call Main.
func OpenStarter(log *slog.Logger) (*Starter, error) {
	client, err := shim.Open(log)
	if err != nil {
		return nil, err
	}
	return &Starter{client}, nil
}

// Close ends the processes that start commands. The commands should have ended. It can
// be called again.
func (s *Starter) Close() { s.client.Close() }
