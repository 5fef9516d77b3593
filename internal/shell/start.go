package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"podd/internal/commands/process"
	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
	"podd/pkg/tool"
)

// starter starts commands: a shim.Client, or shim.Local.
type starter interface {
	Start(ctx context.Context, c shim.Command) (*shim.Running, error)
}

// start starts the command in its sandbox, as that of a job if j is one. On error nothing runs.
// If it is not known whether the command began, the run is left to adopt.
func (r *run) start(ctx context.Context, j *job) error {
	r.makeRoom(ctx, r.Spool.Temp())
	use := r.granted(r.call, r.args)
	keeps, err := r.keptBy(use)
	if err != nil {
		return notRun(err)
	}
	confined, err := r.confine(ctx, use)
	if err != nil {
		return notRun(err)
	}
	defer confined.Close()
	if err := r.prepare(j, keeps, use); err != nil {
		r.guard.Close()
		return err
	}
	r.guard.Watch(r.Spool.Moved, r.Logger)
	err = r.execute(ctx, confined, use)
	if err == nil {
		j.set(r)
		return nil
	}
	r.guard.Close()
	if !errors.Is(err, shim.ErrLost) {
		r.settle()
		return err
	}
	// As after a kill of podd.
	again, err := r.Spool.OpenJob(r.tool(), r.id)
	r.files.Close()
	if err != nil {
		return unknown(err)
	}
	r.files, r.guard, r.cut = again, nil, context.Cause(ctx)
	return nil
}

// checkFiles begins the names of the files of checks.
const checkFiles = "check"

// tool begins the names of the command's files.
func (r *run) tool() string {
	if r.call.Check {
		return checkFiles
	}
	return "shell"
}

// prepare makes the files of the command.
func (r *run) prepare(j *job, keeps string, use grant) error {
	guarded, err := r.guard.Note()
	if err != nil {
		return notRun(err)
	}
	r.note = note{Started: time.Now(), Guard: guarded, Leased: r.Movable, Cache: r.cacheName()}
	if j != nil {
		r.note.Job = &jobNote{
			ID: j.ID, Command: r.args.Command, Quiet: r.args.Quiet, Deadline: r.note.Started.Add(j.pod.all.MaxTime),
			Keeper: keeps, Reach: r.reach(use), Terminal: r.args.Terminal, Confined: r.access(r.args).Confined, Access: r.reached(use),
		}
	}
	if r.files, err = r.Spool.CreateJob(r.tool(), r.id, r.note); err != nil {
		return notStored(err)
	}
	if _, err = r.files.Output.WriteString(header(r.args)); err != nil {
		r.settle()
		return notStored(err)
	}
	r.capture()
	return nil
}

// capture begins to read the output, which has its header.
func (r *run) capture() {
	quota, spare := r.SpoolBytes, int64(0)
	if r.note.Job != nil {
		// All jobs together take at most what the spool may. The end of a longer output stays readable.
		quota = min(quota, r.Spool.Quota()/MaxAllJobs)
		spare = quota / 4
	}
	r.captured = newCapture(r.files.Output.File, header(r.args), quota, spare, r.limit.MaxBytes, r.call.Progress)
}

func notRun(err error) error { return fmt.Errorf("the command was not run: %w", err) }

func notStored(err error) error {
	return fmt.Errorf("the command was not run because its output cannot be stored: %w", err)
}

// header is the first line of an output's file.
func header(args shellArgs) string {
	return tool.Bound("$ "+tool.Shorten(args.Command, 200)) + "\n"
}

// execute starts the command. What keeps it from that is an error, and nothing runs, save
// on shim.ErrLost.
func (r *run) execute(ctx context.Context, confined *sandbox.Command, use grant) error {
	c := r.command(confined, use)
	c.Output, c.Record = r.files.Output.File, r.files.Record
	c.Keeper, c.Terminal = r.keeper, r.args.Terminal
	if c.Leave = tool.ErrLeave; r.note.Leased {
		c.Lease, c.Leave = r.Lease, nil
	}
	if c.Terminal {
		c.Env = append(c.Env, "TERM=xterm-256color")
	}
	if r.call.Key != "" {
		c.Env = append(c.Env, tool.KeyVariable+"="+r.call.Key)
	}
	running, err := r.starter.Start(ctx, c)
	switch {
	case errors.Is(err, shim.ErrLost):
		return err
	case err != nil:
		return fmt.Errorf("%s cannot be started in %s: %w", c.Args[0], c.Dir, err)
	}
	r.tree, r.status = running.Tree, running.Status
	return nil
}

// confine is the command line that has the shell run the command, in the sandbox where there is one, with its
// guard.
func (r *run) confine(ctx context.Context, use grant) (*sandbox.Command, error) {
	path, err := exec.LookPath(r.Path)
	if err != nil {
		return nil, err
	}
	argv := []string{path, "-c", r.args.Command}
	if !r.confines() {
		return &sandbox.Command{Args: argv}, nil
	}
	if use.host {
		return &sandbox.Command{Args: argv}, r.allow(r.args)
	}
	temp := r.Spool.Temp()
	if err := temp.Make(); err != nil {
		return nil, err
	}
	cache := r.share(ctx)
	defer cache.Close()
	roots := r.FS.Roots()
	scope := sandbox.Scope{
		Dir: roots[0].Path, Roots: roots, Temp: temp.Path, Cache: cache, Show: append(existing(r.Shows), r.Spool.Dir()), Network: use.network,
		ReadOnly: r.call.Plan, Joined: r.keeper.Network, Dies: r.Movable,
	}
	if scope.Guard, err = r.protect(scope); err != nil {
		return nil, err
	}
	command, err := r.Sandbox.Command(scope, sandbox.FirstFile, argv...)
	if err != nil {
		scope.Guard.Close()
		return nil, err
	}
	r.guard = scope.Guard
	return command, nil
}

// existing are those of some directories that exist.
func existing(dirs []string) []string {
	return slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}

// command is the command without the files of its run.
func (s *Runner) command(confined *sandbox.Command, use grant) shim.Command {
	dir, env := s.FS.Roots()[0].Path, s.env
	var limits process.Limits
	if s.Sandbox != nil {
		limits = s.Sandbox.Limits()
	}
	if use.host {
		// What is left is that the kernel ends it before podd.
		limits, env = process.Limits{OOMScore: limits.OOMScore}, s.hostEnv
	}
	return shim.Command{Args: confined.Args, Dir: dir, Env: slices.Concat([]string{"PWD=" + dir}, env, confined.Env, settings(s.Env)), Files: confined.Files, Limits: limits}
}
