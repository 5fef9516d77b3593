package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"podd/internal/commands/launcher"
	"podd/pkg/scopefs"
)

// Mode is a kind of sandbox, or how to choose one.
type Mode = string

// The modes. A configuration can have Auto and Off; None means that no sandbox works or
// is wanted.
const (
	Auto     Mode = "auto"
	Bwrap    Mode = "bwrap"
	Landlock Mode = "landlock"
	Off      Mode = "off"
	None     Mode = "none"
)

// Config says how to confine commands. The zero value is ready.
type Config struct {
	// Mode is Auto, Bwrap, Landlock or Off; empty means Auto: bwrap, otherwise Landlock.
	Mode Mode `toml:"mode" oneof:"auto bwrap landlock off"`
	// Required refuses commands if no sandbox works.
	Required bool `toml:"required"`
	// Network is whether the commands of pods reach the network that do not say it.
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
	// Hidden are podd's own files and directories.
	Hidden []string
	// Checkouts is a directory in a hidden one; see [scopefs.Config].
	Checkouts string
	// Environ is podd's environment, which names further places to hide; nil means
	// os.Environ.
	Environ []string
	// Launcher confines commands under Landlock; nil means this process's own binary.
	Launcher *launcher.Launcher
}

// Scope is what the commands of one pod may reach.
type Scope struct {
	// Dir is where they start: the path of the first root.
	Dir string
	// Roots are the pod's directories.
	Roots []scopefs.Root
	// ReadOnly keeps the command from changing anything but Temp, and from the network. Roots
	// that are writable are not then.
	ReadOnly bool
	// Temp is a directory that serves as /tmp.
	Temp string
	// Cache is an open directory, by its path, for what programs can make again; nil means one in
	// Temp, as for a command that is ReadOnly.
	Cache *os.File
	// Show are directories of podd's own that can be read.
	Show []string
	// Network lets the command reach the network.
	Network bool
	// Free keeps nothing in the directories read-only: for a command of podd's own.
	Free bool
	// Joined says that the process that starts the command has a network of its own with
	// the loopback alone, and that the command uses that.
	Joined bool
	// Dies ends the command when the process that starts it ends. Landlock does not.
	Dies bool
	// Guard has the paths that must not change; nil means one of its own for the start.
	Guard *Guard
}

// Sandbox is a kind of sandbox that works here, or none. It is safe for concurrent use.
type Sandbox struct {
	hiding
	mode Mode
	// why says why it is not another mode, in a clause; empty for the first choice.
	why string
	// program is bwrap's path; nested says that it can forbid user namespaces inside.
	program string
	nested  bool

	// guards are those of running commands.
	guards sync.Map
	// surveys are where repositories were last, by the directory.
	surveys sync.Map
	// mixed are the files that git was kept from, by the working tree.
	mixed sync.Map
	spare spare
}

// Mode is Bwrap, Landlock or None.
func (s *Sandbox) Mode() Mode { return s.mode }

// Confines says whether commands run in a sandbox.
func (s *Sandbox) Confines() bool { return s.mode != None }

// ReachesNetwork is whether commands reach the network unasked where their pod does not say it.
// Without a sandbox, nil too, they do.
func (s *Sandbox) ReachesNetwork() bool { return s == nil || !s.Confines() || s.Network }

// Why says in a clause why the mode is not a better one; empty for the best.
func (s *Sandbox) Why() string { return s.why }

// MaxMemory is how much memory a command may use, in bytes; 0 without a bound. The
// sandbox does not enforce it: whoever runs a command does.
func (s *Sandbox) MaxMemory() int64 {
	if s.Config.Mode == Off {
		return 0
	}
	return s.Config.MaxMemory
}

// Refuses is a sentence if commands must not run, otherwise empty.
func (s *Sandbox) Refuses() string {
	if s.Fate() != Refuse {
		return ""
	}
	return fmt.Sprintf("the configuration requires a sandbox, but none works here (%s): install bubblewrap, or change [sandbox] required", s.why)
}

// How a command runs.
const (
	Confined = "confined"
	Ask      = "ask"
	Refuse   = "refuse"
	Run      = "run"
)

// Fate is how a command runs: it is Confined, or without a sandbox it is Refuse-d, a
// person is to be Ask-ed before it, or it is Run because the operator wants that.
func (s *Sandbox) Fate() string {
	switch {
	case s.Confines():
		return Confined
	case s.Required:
		return Refuse
	case s.Config.Mode == Off:
		return Run
	}
	return Ask
}

// Command is a command line that runs another one in the sandbox. Close it after the
// start.
type Command struct {
	// Args is the whole command line.
	Args []string
	// Env are variables to set, after all others.
	Env []string
	// Files are open at the descriptors from the requested one on.
	Files []*os.File
	first int
}

// add gives a file a descriptor.
func (c *Command) add(file *os.File) string {
	c.Files = append(c.Files, file)
	return fmt.Sprint(c.first + len(c.Files) - 1)
}

// Close closes the files.
func (c *Command) Close() {
	for _, file := range c.Files {
		_ = file.Close()
	}
}

// Command is the command line for argv, whose first word is an absolute path. Files will
// be open from descriptor first on, 3 or higher.
func (s *Sandbox) Command(scope Scope, first int, argv ...string) (*Command, error) {
	c := &Command{first: first}
	if !s.Confines() {
		c.Args = argv
		return c, nil
	}
	if scope.Guard == nil && !scope.Free {
		g, err := s.Guard(scope, nil)
		if err != nil {
			return nil, err
		}
		defer g.Close()
		scope.Guard = g
	}
	if err := s.wrap(c, scope.reading(), argv); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// shared are the directories of every pod that a command can change.
func (s *Sandbox) shared(scope Scope) []string {
	if scope.ReadOnly {
		return nil
	}
	return s.Write
}

// reading makes all roots of a scope that is ReadOnly so.
func (scope Scope) reading() Scope {
	if !scope.ReadOnly {
		return scope
	}
	scope.Roots = slices.Clone(scope.Roots)
	for i := range scope.Roots {
		scope.Roots[i].Writable = false
	}
	scope.Network, scope.Cache = false, nil
	return scope
}

// within says whether a clean path is dir or below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
