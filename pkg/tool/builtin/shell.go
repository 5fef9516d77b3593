package builtin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// Shell settings that have no field of their own.
const (
	defaultTimeout = 120
	maxTimeout     = 3600
	maxChanges     = 32
	defaultGrace   = time.Second
	// defaultSpoolBytes is the disk that the output of one command may take.
	defaultSpoolBytes = 256 << 20
)

// Shell sets up the shell tool. The zero value is ready.
type Shell struct {
	// Path is the shell that runs commands by -c; by default bash where it is
	// installed, else sh.
	Path string
	// Starter starts commands; without one they are children of this process, and lose
	// their status when it is killed.
	Starter *Starter
	// Env adds to the environment of commands: NAME=value, or NAME to pass on
	// podd's own value.
	Env []string
	// Environ is podd's own environment; nil means os.Environ.
	Environ []string
	// SpoolBytes is the disk that the output of one command may take, 256 MiB by
	// default and never more than the spool's quota. What is over it is counted, and only its ends are kept.
	SpoolBytes int64
	// Grace is the time between SIGTERM and SIGKILL, one second by default.
	Grace time.Duration
	// Sandbox confines commands; nil confines none.
	Sandbox *Sandbox
	// Confined says that commands can't leave their sandbox, or that the operator wants
	// them to run without one and unasked.
	Confined bool
}

type shellArgs struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout_seconds,omitempty" jsonschema:"default 120, at most 3600"`
	// Changes are protected paths that the command is to change.
	Changes []string `json:"changes,omitempty" jsonschema:"protected files that it changes, such as .npmrc; a person is asked"`
}

func (a *shellArgs) check() error {
	if a.Timeout == 0 {
		a.Timeout = defaultTimeout
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return errors.New("command is empty: write the command to run")
	case strings.ContainsRune(a.Command, 0):
		return errors.New("command has a NUL character: remove it")
	case len(a.Changes) > maxChanges:
		return fmt.Errorf("changes has more than %d paths: name directories, or split the work", maxChanges)
	case a.Timeout < 1 || a.Timeout > maxTimeout:
		return fmt.Errorf("timeout_seconds must be 1 to %d, not %d", maxTimeout, a.Timeout)
	}
	return nil
}

type shell struct {
	Shell
	// box is the Sandbox; nil without one.
	box     *sandbox.Sandbox
	starter starter
	fs      *scopefs.FS
	spool   *spool.Folder
	limit   tool.Limit
	env     []string
	// redact takes secrets out of what a summary quotes before it is cut.
	redact func(string) string
	log    *slog.Logger
}

func newShell(c Config) tool.Tool {
	s := &shell{Shell: c.Shell, fs: c.FS, spool: c.Spool, limit: c.Limits.For("shell"), redact: c.Limits.Redact, log: c.Logger}
	if s.Path == "" {
		s.Path = "sh"
		if bash, err := exec.LookPath("bash"); err == nil {
			s.Path = bash
		}
	}
	s.starter = shim.Local{}
	if s.Starter != nil {
		s.starter = s.Starter.client
	}
	if s.Sandbox != nil {
		s.box = s.Sandbox.box
	}
	if s.Environ == nil {
		s.Environ = os.Environ()
	}
	s.env = commandEnv(s.Environ, s.Env)
	if s.SpoolBytes == 0 {
		s.SpoolBytes = defaultSpoolBytes
	}
	s.SpoolBytes = min(s.SpoolBytes, c.Spool.Quota())
	if s.Grace == 0 {
		s.Grace = defaultGrace
	}
	return tool.New("shell", "Run a command with "+filepath.Base(s.Path)+" in the workspace. No input, no terminal; "+
		"what it leaves in the background is ended with it."+s.bounds(), s.run, tool.Validate((*shellArgs).check), tool.Recovers(s.recover),
		tool.Touches(s.access))
}

// run is an error to the model unless the command exits with 0: a result that
// says what failed must outlive the rest of its turn.
func (s *shell) run(ctx context.Context, call *tool.Invocation, args shellArgs) (tool.Output, error) {
	path, err := exec.LookPath(s.Path)
	if err != nil {
		return tool.Error("shell: not run: %s cannot be started: %v", s.Path, err), nil
	}
	if s.box != nil && s.box.Refuses() != "" {
		return tool.Error("shell: not run: %s", s.box.Refuses()), nil
	}
	s.makeRoom(ctx)
	use, mark := s.granted(call.Approved, args.Command), 0
	if s.box != nil {
		mark = s.box.GitMark()
		if use.access == sandbox.GitAll {
			defer s.box.BeginGit()()
		}
	}
	confined, guard, err := s.confine(call.Approved, path, args, use)
	if err != nil {
		return tool.Output{}, fmt.Errorf("the command was not run: %w", err)
	}
	defer confined.Close()
	defer guard.Close()
	note, err := guard.Note()
	if err != nil {
		return tool.Output{}, fmt.Errorf("the command was not run: %w", err)
	}
	id := call.CallID
	if id == "" {
		id = rand.Text()
	}
	started := time.Now()
	job, err := s.spool.CreateJob("shell", id, jobNote{Started: started, Held: confined.Held, Guard: note})
	if err != nil {
		return tool.Output{}, notRun(err)
	}
	r := &shellRun{shell: s, call: call, args: args, job: job, started: started, held: confined.Held, gitMark: mark, guard: guard}
	defer r.settle()
	if r.captured, err = newCapture(job.Output.File, header(args), s.SpoolBytes, s.limit.MaxBytes, call.Progress); err != nil {
		return tool.Output{}, notRun(err)
	}
	guard.Watch(s.spool.Moved, s.log)
	err = r.start(ctx, confined)
	if errors.Is(err, shim.ErrLost) {
		// As after a podd that was killed.
		again, err := s.spool.OpenJob("shell", id)
		if err != nil {
			return tool.Output{}, unknown(err)
		}
		job.Close()
		guard.Close()
		r.job, r.ended = again, context.Cause(ctx)
		return r.resume(ctx)
	}
	if err != nil {
		return tool.Output{}, err
	}
	return r.finish(ctx), nil
}

func notRun(err error) error {
	return fmt.Errorf("the command was not run, for its output cannot be stored: %w", err)
}

// header is the first line of an output's file.
func header(args shellArgs) string {
	return tool.Bound("$ "+shorten(args.Command, 200)) + "\n"
}

// bounds tells the model what a sandbox keeps from its commands.
func (s *shell) bounds() string {
	if s.box == nil || !s.box.Confines() {
		return ""
	}
	bounds := " Only the workspace and $TMPDIR can be written"
	if s.box.Mode() == sandbox.Bwrap {
		bounds += ", .git by plain git commands (add, commit, switch, ...) on a line of their own"
	}
	if s.box.Network {
		return bounds + "."
	}
	return bounds + "; there is no network."
}
