package builtin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"podd/internal/commands/process"
	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// answer is the result of the call that starts a job: after a short time, or at once when
// the command exits. Until then the command ends with the call, as in the foreground.
func (j *job) answer(ctx context.Context, call *tool.Invocation) tool.Output {
	patience := time.NewTimer(jobPatience)
	defer patience.Stop()
	j.show(call.Progress)
	defer j.show(nil)
	for j.runs() {
		select {
		case <-j.done:
		case <-ctx.Done():
			j.stop(&jobStop{reason: "the call was cancelled"})
			<-j.done
		case <-patience.C:
			if j.now().started.IsZero() {
				// The process that starts commands is slow.
				patience.Reset(jobPatience)
				continue
			}
			return j.goesOn(call)
		}
	}
	r := j.now().run
	if r == nil || j.out.Summary == "" {
		j.pod.forget(j)
		return tool.Output{Summary: tool.Bound("shell: " + j.Status), Kind: item.OutputShell, IsError: true}
	}
	call.Stored(func() {
		r.job.Settle(r.keep)
		j.pod.forget(j)
	})
	return j.out
}

// goesOn leaves the command running as a job, once the result that names it is stored.
func (j *job) goesOn(call *tool.Invocation) tool.Output {
	now := j.now()
	call.Record(item.Job{ID: j.ID, CallID: j.CallID, State: item.JobRunning})
	call.Stored(func() {
		j.pod.mu.Lock()
		j.told = true
		owes := j.owesEnd()
		j.pod.mu.Unlock()
		if owes {
			j.pod.all.work.Go(j.pod.notify)
		}
	})
	s := now.run.shell
	out := j.read(0, jobTextBytes(s.limit))
	summary := fmt.Sprintf("shell: %s, runs as job %s; %s, mark %d", shorten(now.said.Command, 60), j.ID, printed(out), out.Mark)
	return tool.Output{Summary: tool.Bound(summary + now.said.Reach), Content: s.redact(out.Text), Kind: item.OutputShell}
}

// keep chooses what starts a command that has the network of the pod's jobs, or a terminal.
// Where the system allows no network of its own, a job has that of its sandbox. A turn that
// only plans reaches no job: that could change things for it.
func (s *shell) keep(r *shellRun, use grant) error {
	network := s.confines() && s.box.Mode() == sandbox.Bwrap && !use.network && !use.host && !r.call.Plan
	if !r.args.Terminal && (!network || !r.background && !s.jobs.shares()) {
		return nil
	}
	if s.Starter == nil || s.jobs == nil || s.jobs.all.Dir == "" {
		if r.args.Terminal {
			return errors.New("terminals are not available here: leave terminal out")
		}
		return nil
	}
	if network {
		err := s.keepBy(r, keepsNetwork)
		if err != nil {
			s.log.Warn("jobs share no network", "tool", "shell", "error", err)
		}
		if err == nil || !r.args.Terminal {
			return nil
		}
	}
	keeps := keepsBoxed
	if use.host || !s.confines() {
		keeps = keepsHost
	}
	if err := s.keepBy(r, keeps); err != nil {
		return fmt.Errorf("it cannot get a terminal: %w", err)
	}
	return nil
}

func (s *shell) keepBy(r *shellRun, keeps string) error {
	var limits process.Limits
	if s.box != nil && keeps != keepsHost {
		limits = s.box.Limits()
	}
	k := s.jobs.keeper(keeps)
	if err := s.Starter.client.Keep(k, limits); err != nil {
		return err
	}
	r.keeper, r.keeps = k, keeps
	return nil
}

// reach says which commands can reach what a job serves, where that is not all.
func (s *shell) reach(use grant, k shim.Keeper) string {
	switch {
	case !s.confines() || use.network || use.host:
		return ""
	case s.box.Mode() == sandbox.Landlock:
		return "; Landlock lets it open no sockets"
	case k.Network:
		return "; your other commands reach it at 127.0.0.1"
	}
	return "; no other command reaches its ports"
}

// recoverJob finds the job of an open call.
func (s *shell) recoverJob(ctx context.Context, r *shellRun, said jobInfo) tool.Output {
	j := s.jobs.byCall(r.id)
	if j == nil {
		j = s.jobs.takeOver(s, r.job, said, r.id)
	} else {
		r.job.Close()
	}
	return j.answer(ctx, r.call)
}
