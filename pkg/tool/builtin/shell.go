package builtin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"podd/internal/process"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// Shell settings that have no field of their own.
const (
	defaultTimeout = 120
	maxTimeout     = 3600
	defaultGrace   = time.Second
	// defaultSpoolBytes is the disk that the output of one command may take.
	defaultSpoolBytes = 256 << 20
)

// Output is looked for this often; less while none comes.
const (
	minPoll = 20 * time.Millisecond
	maxPoll = 250 * time.Millisecond
)

// Shell sets up the shell tool. The zero value is ready.
type Shell struct {
	// Path is the shell that runs commands by -c; by default bash where it is
	// installed, else sh.
	Path string
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
}

type shellArgs struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout_seconds,omitempty" jsonschema:"default 120, at most 3600"`
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
	case a.Timeout < 1 || a.Timeout > maxTimeout:
		return fmt.Errorf("timeout_seconds must be 1 to %d, not %d", maxTimeout, a.Timeout)
	}
	return nil
}

type shell struct {
	Shell
	fs    *scopefs.FS
	spool *spool.Folder
	limit tool.Limit
	env   []string
	log   *slog.Logger
}

func newShell(c Config) tool.Tool {
	s := &shell{Shell: c.Shell, fs: c.FS, spool: c.Spool, limit: c.Limits.For("shell"), log: c.Logger}
	if s.Path == "" {
		s.Path = "sh"
		if bash, err := exec.LookPath("bash"); err == nil {
			s.Path = bash
		}
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
		"what it leaves in the background is ended with it.", s.run, tool.Validate((*shellArgs).check),
		tool.Touches(func(a shellArgs) tool.Access { return tool.Access{Command: a.Command} }))
}

// run is an error to the model unless the command exits with 0: a result that
// says what failed must outlive the rest of its turn.
func (s *shell) run(ctx context.Context, args shellArgs) (tool.Output, error) {
	file, err := s.spool.Create("shell")
	if err != nil {
		return tool.Output{}, fmt.Errorf("the command was not run, for its output cannot be stored: %w", err)
	}
	// The file stays where the output names it; also a panic ends it.
	end := file.Discard
	defer func() { end() }()
	out, err := s.runInto(ctx, args, file.File)
	if out.Cut != nil && out.Cut.SpoolPath != "" {
		end = file.Keep
	}
	return out, err
}

// runInto runs a command whose output is the file spool.
func (s *shell) runInto(ctx context.Context, args shellArgs, spool *os.File) (tool.Output, error) {
	captured, err := newCapture(spool, tool.Bound("$ "+shorten(args.Command, 200))+"\n", s.SpoolBytes, s.limit.MaxBytes,
		func(text string) { tool.Progress(ctx, text) })
	if err != nil {
		return tool.Output{}, fmt.Errorf("the command was not run, for its output cannot be stored: %w", err)
	}
	cmd := exec.Command(s.Path, "-c", args.Command)
	cmd.Dir, cmd.Env = s.fs.Dir(), append([]string{"PWD=" + s.fs.Dir()}, s.env...)
	cmd.Stdout, cmd.Stderr = spool, spool
	tree, err := process.Start(cmd)
	if err != nil {
		return tool.Error("shell: %s cannot be started in %s: %v", s.Path, s.fs.Dir(), err), nil
	}
	r := &shellRun{shell: s, args: args, tree: tree, captured: captured, started: time.Now()}
	stop := sync.OnceValue(func() int { return tree.Stop(s.Grace) })
	defer stop() // Also when a watcher of the progress panics.
	why := r.follow(ctx)
	if left := stop(); left > 0 {
		s.log.Warn("processes of a command cannot be ended", "tool", "shell", "count", left)
	}
	if err := r.captured.drain(); err != nil && why == nil {
		why = err
	}
	return r.output(why, spool.Name()), nil
}

// shellRun is one run of a command.
type shellRun struct {
	shell    *shell
	args     shellArgs
	tree     *process.Tree
	captured *capture
	started  time.Time
	paused   bool
}

// Why a command was stopped, where no other error says it.
var errTimedOut = errors.New("timed out")

// follow reads the output until the command ends by itself (nil) or must be
// stopped, and says why: errTimedOut, the cause of ctx, or what is wrong with the
// spool file.
func (r *shellRun) follow(ctx context.Context) error {
	timeout := time.NewTimer(time.Duration(r.args.Timeout) * time.Second)
	defer timeout.Stop()
	wait := minPoll
	poll := time.NewTimer(wait)
	defer poll.Stop()
	for {
		select {
		case <-r.tree.Exited():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timeout.C:
			return errTimedOut
		case <-poll.C:
		}
		before := r.captured.total
		atEnd, err := r.captured.advance()
		if err != nil {
			return err
		}
		switch {
		case !atEnd:
			wait = 0
		case r.captured.total > before:
			wait = minPoll
		default:
			wait = min(wait*3/2, maxPoll)
		}
		r.hold(!atEnd)
		poll.Reset(wait)
	}
}

// hold stops a command that prints faster than it can be read, until the reader
// has caught up: its disk stays bounded.
func (r *shellRun) hold(behind bool) {
	switch {
	case r.paused && !behind:
		r.tree.Resume()
		r.paused = false
	case !r.paused && behind && r.captured.backlog() > r.shell.SpoolBytes:
		r.tree.Pause()
		r.paused = true
	}
}

// output is the result of a command that has ended.
func (r *shellRun) output(why error, spool string) tool.Output {
	content, cut := r.captured.content(r.shell.limit, spool)
	state := r.tree.State()
	out := tool.Output{Content: content, Cut: cut, Kind: item.OutputShell, IsError: why != nil || state == nil || !state.Success()}
	if path, reads := readsOnly(r.args.Command); reads && !out.IsError {
		out.Kind = item.OutputRead
		if path != "" {
			out.Path = r.shell.fs.Rel(path)
		}
	}
	printed := "no output"
	if n := r.captured.lines(); n > 0 {
		printed = plural(n, "line")
	}
	if r.captured.emptied {
		printed += "; writing to /dev/stderr or /dev/stdout by name may have lost earlier output: use >&2"
	}
	out.Summary = tool.Bound(fmt.Sprintf("shell: %s, %s, %s", shorten(r.args.Command, 60), r.ending(why), printed))
	return out
}

// ending says how the command ended.
func (r *shellRun) ending(why error) string {
	took := time.Since(r.started).Round(100 * time.Millisecond)
	switch {
	case errors.Is(why, errTimedOut):
		return fmt.Sprintf("timed out after %d s and was ended (raise timeout_seconds, or split the work)", r.args.Timeout)
	case errors.Is(why, errNoHoles):
		return fmt.Sprintf("ended after %s: it printed over %d bytes (redirect the output to a file)", took, r.shell.SpoolBytes)
	case errors.Is(why, context.Canceled), errors.Is(why, context.DeadlineExceeded):
		return fmt.Sprintf("cancelled after %s, may have taken effect", took)
	case why != nil:
		return fmt.Sprintf("ended after %s (%v), may have taken effect", took, why)
	}
	return exitStatus(r.tree.State())
}
