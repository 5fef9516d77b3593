package builtin

import (
	"context"
	"log/slog"

	"podd/internal/commands/launcher"
	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
)

// Main makes this process a helper of the shell tool if it was started as one, and then
// does not return. A program that runs the shell tool calls it first in main, before it
// opens or starts anything: without Main there are no Landlock sandbox and no Starter.
func Main() {
	sandbox.Main()
	shim.Main()
}

// SandboxConfig says how to confine commands. The zero value is ready.
type SandboxConfig struct {
	// Mode is "auto", "bwrap", "landlock" or "off"; empty means "auto": bwrap, otherwise
	// Landlock.
	Mode string `toml:"mode" oneof:"auto bwrap landlock off"`
	// Required refuses commands if no sandbox works.
	Required bool `toml:"required"`
	// Network is whether commands reach the network where Config.Network does not say it.
	Network bool `toml:"network"`
	// Read are files and directories that can be read even if they would be hidden by
	// default. One that would not be begins a list: everything that can be read besides the
	// system's own and the pod's roots.
	Read []string `toml:"read" is:"directories" default:"all but what is hidden"`
	// Write are directories that every pod's commands can change.
	Write []string `toml:"write" is:"directories" default:"the pod's alone"`
	// MaxMemory bounds the memory of a command and everything that it starts, in bytes; 0
	// means half of the available memory.
	MaxMemory int64 `toml:"max_memory_bytes" range:"0 1152921504606846976" default:"half of the machine's memory"`
	// Hidden are files and directories of the program itself, such as its store.
	Hidden []string
	// Checkouts is a directory in a hidden one, below which a pod's directories may be.
	Checkouts string
	// Environ is the program's environment, which names further places to hide; nil
	// means os.Environ.
	Environ []string
	// Launcher confines commands under Landlock; nil means this program's own binary.
	Launcher *Launcher
}

// Launcher is podd-launch, a small program that starts commands sooner than a large one
// does. Nil stands for none.
type Launcher struct{ program *launcher.Launcher }

// FindLauncher opens the podd-launch beside this program, which must have been built from the
// same source. An error says, in a clause for people, why there is none. Close must follow,
// after the Starter's. Other systems than Linux need none and get nil.
func FindLauncher(ctx context.Context) (*Launcher, error) {
	program, err := launcher.Find(ctx)
	if program == nil {
		return nil, err
	}
	return &Launcher{program}, nil
}

// Close closes it. What runs by then goes on.
func (l *Launcher) Close() { l.get().Close() }

func (l *Launcher) get() *launcher.Launcher {
	if l == nil {
		return nil
	}
	return l.program
}

// How a command runs, see Sandbox.Fate.
const (
	FateConfined = sandbox.Confined
	FateAsk      = sandbox.Ask
	FateRefuse   = sandbox.Refuse
	FateRun      = sandbox.Run
)

// Sandbox confines the commands of the shell tool. It is safe for concurrent use.
type Sandbox struct{ box *sandbox.Sandbox }

// DetectSandbox tries the sandboxes that c allows, with real commands, and returns the
// first that works. It never fails: Why says what does not work.
func DetectSandbox(ctx context.Context, c SandboxConfig) *Sandbox {
	return &Sandbox{sandbox.Detect(ctx, sandbox.Config{
		Mode: c.Mode, Required: c.Required, Network: c.Network, Read: c.Read, Write: c.Write, MaxMemory: c.MaxMemory,
		Hidden: c.Hidden, Checkouts: c.Checkouts, Environ: c.Environ, Launcher: c.Launcher.get(),
	})}
}

// Mode is "bwrap", "landlock" or "none".
func (s *Sandbox) Mode() string { return s.box.Mode() }

// Why says in a clause why the mode is not a better one; empty for the best.
func (s *Sandbox) Why() string { return s.box.Why() }

// Fate is how a command runs: FateConfined, or without a sandbox FateRefuse, FateAsk if a
// person is asked before it, or FateRun.
func (s *Sandbox) Fate() string { return s.box.Fate() }

// Refuses is a sentence if commands must not run, otherwise empty.
func (s *Sandbox) Refuses() string { return s.box.Refuses() }

// Credentials is the number of the user's hidden files and directories with credentials.
func (s *Sandbox) Credentials() int { return s.box.Credentials() }

// Hides says whether a directory has something that commands do not see, or is in it.
func (s *Sandbox) Hides(dir string) bool { return s.box.Hides(dir) }

// Network is whether commands reach the network unasked where Config.Network does not say
// it. Without a sandbox, nil too, they do.
func (s *Sandbox) Network() bool { return s == nil || !s.box.Confines() || s.box.Network }

// Allow is for a change of a protected path that a person agreed to while commands run.
// Without a sandbox, nil, it does nothing.
func (s *Sandbox) Allow(path string) {
	if s != nil {
		s.box.Allow(path)
	}
}

// Starter starts commands in a separate process, which records how they end even when
// this process is killed. Close must follow.
type Starter struct{ client *shim.Client }

// OpenStarter makes a Starter whose processes are those of l. With a nil l it fails in a
// program that does not call Main.
func OpenStarter(log *slog.Logger, l *Launcher) (*Starter, error) {
	client, err := shim.Open(log, l.get())
	if err != nil {
		return nil, err
	}
	return &Starter{client}, nil
}

// Close ends the processes that start commands. The commands should have ended. It may be
// called more than once.
func (s *Starter) Close() { s.client.Close() }
