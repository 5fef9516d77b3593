package shell

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"podd/pkg/item"
	"podd/pkg/tool"
)

const (
	defaultTimeout = 120
	maxTimeout     = 3600
	maxChanges     = 32
)

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

func (s *Runner) shellTool() tool.Tool {
	return tool.New("shell", "Run a command with "+filepath.Base(s.Path)+" in the workspace. No input, no terminal; "+
		"background processes are stopped when it ends."+s.bounds(), s.run, tool.Validate((*shellArgs).check), tool.Recovers(s.recover),
		tool.Touches(s.access))
}

// bounds tells the model what a sandbox keeps from its commands.
func (s *Runner) bounds() string {
	if !s.confines() {
		return ""
	}
	bounds := " Only the workspace and $TMPDIR can be written, but hooks and configuration of git and protected files only by changes"
	if s.network() {
		return bounds + "."
	}
	return bounds + "; there is no network."
}

// refuses says in a sentence why a call's command must not start; empty if it may.
func (s *Runner) refuses(call *tool.Invocation, args shellArgs) string {
	if _, err := exec.LookPath(s.Path); err != nil {
		return fmt.Sprintf("cannot start %s: %v", s.Path, err)
	}
	if s.Sandbox != nil && s.Sandbox.Refuses() != "" {
		return s.Sandbox.Refuses()
	}
	if why := s.barred(args); why != "" {
		return why
	}
	if call.Plan && !s.confines() {
		return "this turn only plans, and no sandbox works here that keeps a command from changes"
	}
	return ""
}

// run is an error for the model unless the command exits with 0: a result that says what
// failed must outlive the rest of its turn.
func (s *Runner) run(ctx context.Context, call *tool.Invocation, args shellArgs) (tool.Output, error) {
	if why := s.refuses(call, args); why != "" {
		return tool.Error("shell: not run: %s", why), nil
	}
	r := &run{Runner: s, call: call, args: args, id: cmp.Or(call.CallID, rand.Text())}
	if !args.Background {
		if err := r.start(ctx, nil); err != nil {
			return tool.Output{}, err
		}
		defer r.settle()
		return r.result(ctx)
	}
	j, err := s.Jobs.reserve(r.id)
	if err != nil {
		return tool.Error("shell: not run: %v", err), nil
	}
	r.call = &tool.Invocation{CallID: r.id, Key: call.Key, Approved: call.Approved, Plan: call.Plan, Report: j.progress}
	if err := r.start(ctx, j); err != nil {
		s.Jobs.drop(j)
		return tool.Output{}, err
	}
	s.Jobs.begin(j, r)
	return j.answer(ctx, call, s.Movable)
}

// recover finds the command of a call that a killed podd had started. It waits for one
// that still runs, with a new timeout, because no podd was there to end it.
func (s *Runner) recover(ctx context.Context, call *tool.Invocation, args shellArgs) (out tool.Output, how item.Recovery, err error) {
	if call.CallID == "" {
		return tool.Output{}, item.RecoveryUnknown, nil
	}
	r, err := s.left(call, args)
	switch {
	case err == nil && r == nil && !call.Rebooted && !s.Shared:
		// Its files are made before it begins, and stay until its result is stored.
		return tool.Error("shell: %s", notBegun), item.RecoveryNoEffect, nil
	case err != nil || r == nil:
		return tool.Output{}, item.RecoveryUnknown, err
	}
	if r.note.Job != nil && s.Jobs != nil {
		return s.Jobs.takeOver(r).recover(ctx, call, r.note.Leased)
	}
	defer r.settle()
	out, err = r.result(ctx)
	switch {
	case err != nil:
		return out, item.RecoveryUnknown, err
	case r.tree == nil && !r.mayHaveBegun():
		return out, item.RecoveryNoEffect, nil // It was not run.
	case r.tree == nil, r.status() == "":
		return out, item.RecoveryUnknown, nil
	}
	return out, item.RecoveryFound, nil
}
