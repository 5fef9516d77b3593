// Package shell runs the commands of pods: the tools shell and job, and what finds commands
// again that an earlier podd started.
//
// A run is one command. It is started, or, after podd was killed, adopted by the record in the
// spool that names its process; then it is followed until it ends or has to be ended. A call in
// the foreground waits for its run. A job is a run that outlives its call: the log says that there
// is one, the record everything else. The same code follows a run in all three cases.
//
// Wing connects the jobs with the logs of their pods, and serves clients.
//
// A command asks for more than the sandbox in its own call, by access and why. A setting of the pod
// would give every later command what one needed, and a retry with more access would run a command
// twice that may already have had effects.
//
// If podd cannot know how a command ended, after a power cut or without its shim, the outcome is
// unknown, and podd takes nothing back: a command changes more than a checkpoint has, and people may
// have worked in the directory since. podctl undo and reconcilers are for people to use.
//
// The record (note) of a run is its description: the next podd knows a command from that alone.
//
// A Runner may be used from any goroutine. It starts none but those that follow jobs, which
// Jobs.Close waits for.
package shell

import (
	"cmp"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"time"

	"podd/internal/commands/lease"
	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/scratch"
	"podd/pkg/tool/spool"
)

// Main makes this process a helper of this package if it was started as one, and then
// does not return. A program that runs commands calls it first in main, before it opens or starts
// anything: without Main there are no Landlock sandbox and no Starter.
func Main() {
	sandbox.Main()
	shim.Main()
}

// Settings without their own field.
const (
	defaultGrace = time.Second
	// defaultSpoolBytes is the default bound of one command's output on disk.
	defaultSpoolBytes = 256 << 20
)

// Config is the same for all pods. The zero value is ready.
type Config struct {
	// Path is the shell that runs commands by -c; by default bash if it is installed,
	// otherwise sh.
	Path string
	// Starter starts commands; without one they are children of this process, and lose
	// their status when it is killed.
	Starter *shim.Client
	// Env adds to the environment of commands: NAME=value, or NAME to pass on
	// podd's own value.
	Env []string
	// Environ is podd's own environment; nil means os.Environ.
	Environ []string
	// SpoolBytes bounds the output of one command on disk, 256 MiB by default and never more
	// than the spool's quota. Output beyond it is counted, and only its ends are kept.
	SpoolBytes int64
	// Grace is the time between SIGTERM and SIGKILL, one second by default.
	Grace time.Duration
	// Sandbox confines commands; nil confines none.
	Sandbox *sandbox.Sandbox
	// Lease ends the commands of pods that another node may take over; nil allows them none.
	Lease *lease.Lease
	// Confined says that commands can't leave their sandbox, or that the operator wants them
	// to run without one and without a question.
	Confined bool
}

// Program is the path of the shell that runs commands.
func (c Config) Program() string {
	if c.Path != "" {
		return c.Path
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		return bash
	}
	return "sh"
}

// Place is where the commands of one pod run.
type Place struct {
	// FS is the pod's files; nil if no command starts.
	FS *scopefs.FS
	// Spool is the pod's folder for the output of commands.
	Spool *spool.Folder
	// Caches have the cache that the commands of a workspace share; nil means that each pod's
	// are in its /tmp.
	Caches *scratch.Caches
	// Jobs are the pod's; nil means that it can have none.
	Jobs *PodJobs
	// Movable says that another node may take over the pod: its commands need bwrap and end with
	// the lease.
	Movable bool
	// Shared says that another podd may have had the pod since a call began.
	Shared bool
	// Network says whether commands reach the network now, unasked; nil leaves that to the Sandbox.
	Network func() bool
	// Shows are directories that commands can read, also in what is hidden from them.
	Shows []string
	// Limits are those to which the outputs will be cut.
	Limits *tool.Limits
	// Logger gets what no result can say; nil discards it.
	Logger *slog.Logger
}

// Runner runs the commands of a pod.
type Runner struct {
	Config
	Place
	starter starter
	limit   tool.Limit
	// env is the environment of commands, hostEnv of those without a sandbox.
	env, hostEnv []string
}

// New makes the runner of a pod.
func New(c Config, p Place) *Runner {
	c.Path = c.Program()
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	c.SpoolBytes = min(cmp.Or(c.SpoolBytes, defaultSpoolBytes), p.Spool.Quota())
	c.Grace = cmp.Or(c.Grace, defaultGrace)
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Runner{
		Config: c, Place: p, starter: shim.Local{}, limit: p.Limits.For("shell"),
		env: commandEnv(c.Environ, c.Env), hostEnv: commandEnv(c.Environ, slices.Concat(sessionVariables, c.Env)),
	}
	if c.Starter != nil {
		s.starter = c.Starter
	}
	return s
}

// Tools are shell and job.
func (s *Runner) Tools() []tool.Tool { return []tool.Tool{s.shellTool(), s.jobTool()} }

// confines says whether commands run in a sandbox.
func (s *Runner) confines() bool { return s.Sandbox != nil && s.Sandbox.Confines() }
