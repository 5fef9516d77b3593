package builtin

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/scratch"
	"podd/pkg/tool/spool"
)

// Shell settings without their own field.
const (
	defaultTimeout = 120
	maxTimeout     = 3600
	maxChanges     = 32
	defaultGrace   = time.Second
	// defaultSpoolBytes is the default bound of one command's output on disk.
	defaultSpoolBytes = 256 << 20
)

// Shell sets up the shell tool. The zero value is ready.
type Shell struct {
	// Path is the shell that runs commands by -c; by default bash if it is installed,
	// otherwise sh.
	Path string
	// Starter starts commands; without one they are children of this process, and lose
	// their status when it is killed.
	Starter *Starter
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
	Sandbox *Sandbox
	// Lease ends the commands of pods that another node may take over; nil allows them none.
	Lease *Lease
	// Confined says that commands can't leave their sandbox, or that the operator wants them
	// to run without one and without a question.
	Confined bool
}

// Program is the path of the shell that runs commands.
func (s Shell) Program() string {
	if s.Path != "" {
		return s.Path
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		return bash
	}
	return "sh"
}

type shellArgs struct {
	Command    string `json:"command"`
	Timeout    int    `json:"timeout_seconds,omitempty" jsonschema:"default 120, at most 3600"`
	Background bool   `json:"background,omitempty" jsonschema:"run as a job that outlives the call: servers, watchers"`
	Quiet      bool   `json:"quiet,omitempty" jsonschema:"the job's end does not wake you"`
	Terminal   bool   `json:"terminal,omitempty" jsonschema:"give the job a terminal to write to"`
	// Changes are protected paths that the command will change.
	Changes []string    `json:"changes,omitempty" jsonschema:"protected files that it changes, such as .npmrc; needs approval"`
	Access  item.Access `json:"access,omitempty" enum:"sandbox,network,host" jsonschema:"more than the sandbox, for this call; needs approval"`
	Why     string      `json:"why,omitempty" jsonschema:"what access is needed for"`
}

func (a *shellArgs) check() error {
	switch {
	case a.Quiet && !a.Background:
		return errors.New("quiet is for a job: set background too, or leave it out")
	case a.Terminal && !a.Background:
		return errors.New("terminal is for a job: set background too, or leave it out")
	case a.Background && a.Timeout != 0:
		return errors.New("timeout_seconds is for a command in the foreground: leave it out, and stop the job when it is not needed")
	case a.Background:
		// [jobs] max_time bounds it.
	case a.Timeout == 0:
		a.Timeout = defaultTimeout
	}
	if err := a.checkAccess(); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return errors.New("command is empty: write the command to run")
	case strings.ContainsRune(a.Command, 0):
		return errors.New("command contains a NUL character: remove it")
	case len(a.Changes) > maxChanges:
		return fmt.Errorf("changes has more than %d paths: name directories, or split the work", maxChanges)
	case !a.Background && (a.Timeout < 1 || a.Timeout > maxTimeout):
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
	caches  *scratch.Caches
	limit   tool.Limit
	// env is the environment of commands, hostEnv of those without a sandbox.
	env, hostEnv []string
	// reaches is Config.Network.
	reaches func() bool
	// redact takes secrets out of what a summary quotes before it is cut.
	redact func(string) string
	log    *slog.Logger
	// jobs are the pod's; nil if it can have none.
	jobs *PodJobs
	// movable is Config.Movable, shows Config.Shows.
	movable bool
	shows   []string
}

// makeShell makes the shell of a pod. It needs no FS for a command that an earlier podd
// started.
func makeShell(c Config) *shell {
	s := &shell{Shell: c.Shell, fs: c.FS, spool: c.Spool, caches: c.Caches, jobs: c.Jobs, movable: c.Movable, shows: c.Shows, limit: c.Limits.For("shell"), reaches: c.Network, redact: c.Limits.Redact, log: c.Logger}
	s.Path = s.Program()
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
	s.env, s.hostEnv = commandEnv(s.Environ, s.Env), commandEnv(s.Environ, slices.Concat(sessionVariables, s.Env))
	if s.SpoolBytes == 0 {
		s.SpoolBytes = defaultSpoolBytes
	}
	s.SpoolBytes = min(s.SpoolBytes, c.Spool.Quota())
	if s.Grace == 0 {
		s.Grace = defaultGrace
	}
	return s
}

func newShell(c Config) tool.Tool {
	s := makeShell(c)
	return tool.New("shell", "Run a command with "+filepath.Base(s.Path)+" in the workspace. No input, no terminal; "+
		"background processes are stopped when it ends."+s.bounds(), s.run, tool.Validate((*shellArgs).check), tool.Recovers(s.recover),
		tool.Touches(s.access))
}

// run is an error for the model unless the command exits with 0: a result that says what
// failed must outlive the rest of its turn.
func (s *shell) run(ctx context.Context, call *tool.Invocation, args shellArgs) (tool.Output, error) {
	path, err := exec.LookPath(s.Path)
	if err != nil {
		return tool.Error("shell: not run: cannot start %s: %v", s.Path, err), nil
	}
	if s.box != nil && s.box.Refuses() != "" {
		return tool.Error("shell: not run: %s", s.box.Refuses()), nil
	}
	if why := s.barred(args); why != "" {
		return tool.Error("shell: not run: %s", why), nil
	}
	if call.Plan && !s.confines() {
		return tool.Error("shell: not run: this turn only plans, and no sandbox works here that keeps a command from changes"), nil
	}
	r := &shellRun{shell: s, call: call, args: args, id: cmp.Or(call.CallID, rand.Text()), background: args.Background, leased: s.movable}
	if !r.background {
		return s.runIn(ctx, r, path, nil)
	}
	j, err := s.jobs.reserve(r.id)
	if err != nil {
		return tool.Error("shell: not run: %v", err), nil
	}
	r.call = &tool.Invocation{CallID: r.id, Approved: call.Approved, Plan: call.Plan, Report: j.progress}
	if out, err := s.runIn(ctx, r, path, j); err != nil {
		s.jobs.drop(j)
		return out, err
	}
	return j.answer(ctx, call), nil
}

// runIn runs a command in its sandbox. If it is a background command, whose job is j,
// runIn only starts it.
func (s *shell) runIn(ctx context.Context, r *shellRun, path string, j *job) (tool.Output, error) {
	s.makeRoom(ctx, s.spool.Temp())
	use := s.granted(r.call, r.args)
	if err := s.keep(r, use); err != nil {
		return tool.Output{}, fmt.Errorf("the command was not run: %w", err)
	}
	confined, guard, err := s.confine(ctx, r, path, use)
	if err != nil {
		return tool.Output{}, fmt.Errorf("the command was not run: %w", err)
	}
	defer confined.Close()
	if err := r.prepare(confined, guard, j, use); err != nil {
		guard.Close()
		return tool.Output{}, err
	}
	guard.Watch(s.spool.Moved, s.log)
	err = r.start(ctx, confined, use)
	if errors.Is(err, shim.ErrLost) {
		// As after a kill of podd.
		again, err := s.spool.OpenJob(r.files(), r.id)
		r.job.Close()
		guard.Close()
		if err != nil {
			return tool.Output{}, unknown(err)
		}
		r.job, r.guard, r.cut = again, nil, context.Cause(ctx)
		if j != nil {
			s.jobs.begin(j, func(ctx context.Context) string { return j.find(ctx, s, again) })
			return tool.Output{}, nil
		}
		defer r.settle()
		return r.resume(ctx)
	}
	if err != nil {
		guard.Close()
		r.settle()
		return tool.Output{}, err
	}
	if j != nil {
		s.jobs.begin(j, func(ctx context.Context) string { return j.follow(ctx, r) })
		return tool.Output{}, nil
	}
	defer r.settle()
	return r.finish(ctx), nil
}

// checkFiles begins the names of the files of checks.
const checkFiles = "check"

// files begins the names of the command's files.
func (r *shellRun) files() string {
	if r.call.Check {
		return checkFiles
	}
	return "shell"
}

// prepare makes the files of a command.
func (r *shellRun) prepare(confined *sandbox.Command, guard *sandbox.Guard, j *job, use grant) error {
	s := r.shell
	note, err := guard.Note()
	if err != nil {
		return fmt.Errorf("the command was not run: %w", err)
	}
	r.started, r.guard = time.Now(), guard
	of := jobNote{Started: r.started, Guard: note, Leased: r.leased, Cache: r.cacheName()}
	if j != nil {
		r.deadline = r.started.Add(s.jobs.all.MaxTime)
		of.Job = &jobInfo{ID: j.ID, Command: r.args.Command, Quiet: r.args.Quiet, Deadline: r.deadline}
		of.Job.Terminal, of.Job.Confined, of.Job.Access = r.args.Terminal, s.access(r.args).Confined, s.reached(use)
		of.Job.Keeper, of.Job.Reach = r.keeps, s.reach(use, r.keeper)
		j.set(jobNow{r, *of.Job, r.started})
	}
	if r.job, err = s.spool.CreateJob(r.files(), r.id, of); err != nil {
		return notRun(err)
	}
	r.captured, err = newCapture(r.job.Output.File, header(r.args), r.spoolBytes(), s.limit.MaxBytes, r.call.Progress)
	if err != nil {
		r.settle()
		return notRun(err)
	}
	r.captured.spare = r.spare()
	return nil
}

// spoolBytes bounds the disk space of the output: all jobs together take at most what the
// spool may.
func (r *shellRun) spoolBytes() int64 {
	if r.background {
		return min(r.shell.SpoolBytes, r.shell.spool.Quota()/MaxAllJobs)
	}
	return r.shell.SpoolBytes
}

// spare is how much of a longer output stays readable.
func (r *shellRun) spare() int64 {
	if r.background {
		return r.spoolBytes() / 4
	}
	return 0
}

func notRun(err error) error {
	return fmt.Errorf("the command was not run because its output cannot be stored: %w", err)
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
	bounds := " Only the workspace and $TMPDIR can be written, but hooks and configuration of git and protected files only by changes"
	if s.network() {
		return bounds + "."
	}
	return bounds + "; there is no network."
}
