package sandbox

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"podd/pkg/scopefs"
)

// Mode is a kind of sandbox, or how to choose one.
type Mode = string

// The modes. Auto and Off can be asked for; None is what there is when no sandbox works
// or is wanted.
const (
	Auto     Mode = "auto"
	Bwrap    Mode = "bwrap"
	Landlock Mode = "landlock"
	Off      Mode = "off"
	None     Mode = "none"
)

// Config says how commands are to be confined. The zero value is ready.
type Config struct {
	// Mode is Auto, Bwrap, Landlock or Off; empty means Auto: bwrap, else Landlock.
	Mode Mode
	// Required refuses commands where no sandbox works.
	Required bool
	// Network lets commands reach the network.
	Network bool
	// Read are files and directories that can be read also where they would be hidden by
	// default. One that would not be begins a list: all that can be read beside the system's
	// own and the pod's roots.
	Read []string
	// Write are directories that every pod's commands can change.
	Write []string
	// MaxMemory is how much memory a command and all that it starts may hold, in bytes; 0
	// means half of what there is.
	MaxMemory int64
	// Hidden are podd's own files and directories.
	Hidden []string
	// Environ is podd's environment, which names further places to hide; nil means
	// os.Environ.
	Environ []string
}

// Scope is what the commands of one pod may reach.
type Scope struct {
	// Dir is where they start: the path of the first root.
	Dir string
	// Roots are the pod's directories.
	Roots []scopefs.Root
	// Temp is a directory that serves as /tmp.
	Temp string
	// Show are directories of podd's own that can be read.
	Show []string
	// Git is what the command may change in the repositories of its writable roots. Landlock
	// does not hold it to that.
	Git GitAccess
	// GitDirs are git directories in no root that it may change as far.
	GitDirs []string
	// Restores says that the command is git's and only brings back what its repository has.
	Restores bool
	// Guard says what must not be changed; nil means all that is protected and there.
	Guard *Guard
}

// Sandbox is a kind of sandbox that works here, or none. It is safe for concurrent
// use.
type Sandbox struct {
	hiding
	gitCount
	mode Mode
	// why says why it is not another mode, in a clause; empty for the first choice.
	why string
	// program is bwrap's path; nested says that it can forbid user namespaces inside.
	program string
	nested  bool

	// guards are those of commands that run.
	guards sync.Map
	spare  spare
}

// Mode is Bwrap, Landlock or None.
func (s *Sandbox) Mode() Mode { return s.mode }

// Confines says whether commands run in a sandbox.
func (s *Sandbox) Confines() bool { return s.mode != None }

// Why says in a clause why the mode is not a better one; empty for the best.
func (s *Sandbox) Why() string { return s.why }

// MaxMemory is how much memory a command may hold, in bytes; 0 where there is no bound.
// The sandbox does not hold a command to it: whoever runs one does.
func (s *Sandbox) MaxMemory() int64 {
	if s.Config.Mode == Off {
		return 0
	}
	return s.Config.MaxMemory
}

// Refuses is a sentence when commands must not run, else empty.
func (s *Sandbox) Refuses() string {
	if s.Fate() != Refuse {
		return ""
	}
	return fmt.Sprintf("the configuration requires a sandbox, and none works here (%s): install bubblewrap, or change [sandbox] required", s.why)
}

// What becomes of a command.
const (
	Confined = "confined"
	Ask      = "ask"
	Refuse   = "refuse"
	Run      = "run"
)

// Fate is what becomes of a command: it is Confined, or without a sandbox it is Refuse-d, a
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

// Command is a command line that runs another one in the sandbox. Close it once it
// was started.
type Command struct {
	// Args is the whole command line.
	Args []string
	// Env are variables to set, after all others.
	Env []string
	// Files are open at the descriptors from the one on that was asked for.
	Files []*os.File
	// Held is what no mount keeps as it is.
	Held  Held
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
	if err := s.wrap(c, scope, argv); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// within says whether a clean path is dir or below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
