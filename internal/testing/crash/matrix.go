package crash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// states are those that a pod is brought into, ends are what then ends podd or stops it.
var (
	states = []string{"idle", "streaming", "tool", "approval", "queued", "compaction", "paused"}
	ends   = []string{"SIGTERM", "SIGKILL", "SIGTERM-twice", "SIGABRT", "ENOSPC", "EIO"}
)

// matrixRounds runs each end in each state.
func (rn *runner) matrixRounds(ctx context.Context, t *Tally) error {
	n := 0
	for i, state := range states {
		for j, end := range ends {
			n++
			if rn.Short && (i+j)%len(states) > 0 {
				continue
			}
			s := settings{api: []string{"chat", "responses"}[n%2], asks: true}
			err := rn.round(ctx, t, state+"-"+end, s, uint64(n), func(r *round) error { return matrixRound(r, state, end) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// matrixRound brings a pod into a state, ends podd, and lets the work go on.
func matrixRound(r *round, state, end string) error {
	p, err := r.addPod("p")
	if err != nil {
		return err
	}
	r.follow()
	if err := r.up(); err != nil {
		return err
	}
	if err := r.createAll(); err != nil {
		return err
	}
	can, err := r.reach(p, state)
	if err != nil {
		return err
	}
	if !can {
		r.tally.Rounds, r.tally.Skipped = 0, 1
		return nil
	}
	if err := r.end(p, state, end); err != nil {
		return err
	}
	if err := r.up(); err != nil {
		return err
	}
	r.survived(p, state)
	r.openGates()
	r.serveApprovals()
	if state == "paused" {
		if err := r.resume(p); err != nil {
			return err
		}
	}
	p.submits.submit(r.ctx, "job-8: shell/5/0")
	return r.finish()
}

// reach brings the pod into a state. can is false when this podd has no such state.
func (r *round) reach(p *pod, state string) (can bool, err error) {
	submit := func(text string) { p.submits.submit(r.ctx, text) }
	var there func() bool
	switch state {
	case "idle":
		submit("job-1: shell/5/0")
		there = func() bool {
			return r.busy() == "" && p.raw.has(func(e *poddv1.Entry) bool { return e.GetTurnEnded() != nil })
		}
	case "streaming":
		submit("job-1: stall; shell/5/0")
		there = func() bool { return r.model.hasStalled("stream") }
	case "tool", "queued", "paused":
		submit("job-1: hold; shell/5/0")
		if state == "queued" {
			submit("job-2: shell/5/0")
		}
		there = func() bool { return p.hasFile(ranFile) }
	case "approval":
		if _, err := r.client.Approvals().ListApprovals(r.ctx, &poddv1.ListApprovalsRequest{}); item.KindOf(err) == item.KindUnimplemented {
			return false, nil
		}
		submit("job-1: ask/5/0; shell/5/0")
		there = func() bool { return p.raw.has(func(e *poddv1.Entry) bool { return e.GetApprovalRequested() != nil }) }
	case "compaction":
		r.model.most = 12
		for i := range 4 {
			submit(fmt.Sprintf("job-%d: shell/5/0; read; write", i+1))
		}
		there = func() bool { return r.model.hasStalled("compaction") }
	}
	if !await(r.ctx, there) {
		return true, r.stuck()
	}
	if state == "paused" {
		return r.pause(p)
	}
	return true, nil
}

func (p *pod) hasFile(name string) bool {
	_, err := os.Stat(filepath.Join(p.dir, name))
	return err == nil
}

// pause holds the pod in the middle of its turn.
func (r *round) pause(p *pod) (can bool, err error) {
	_, err = r.client.Pods().Pause(r.ctx, &poddv1.PauseRequest{Pod: p.name})
	if item.KindOf(err) == item.KindUnimplemented {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	if err := os.WriteFile(filepath.Join(p.dir, gateFile), nil, 0o600); err != nil {
		return true, err
	}
	if !await(r.ctx, func() bool { return r.state(p).GetState() == poddv1.PodState_POD_STATE_PAUSED }) {
		return true, r.stuck()
	}
	return true, nil
}

// resume lets the pod go on, once podd can say so.
func (r *round) resume(p *pod) error {
	var err error
	asked := func() bool {
		_, err = r.client.Pods().Resume(r.ctx, &poddv1.ResumeRequest{Pod: p.name})
		return item.KindOf(err) != item.KindUnavailable && item.KindOf(err) != item.KindExhausted
	}
	await(r.ctx, asked)
	return err
}

// state is the pod as podd shows it; nil while podd does not answer.
func (r *round) state(p *pod) *poddv1.Pod {
	resp, err := r.client.Pods().GetPod(r.ctx, &poddv1.GetPodRequest{Pod: p.name})
	if err != nil {
		return nil
	}
	return resp.GetPod()
}

// openGates lets go on what holds and stalls.
func (r *round) openGates() {
	if !done(r.model.gate) {
		close(r.model.gate)
	}
	for _, p := range r.pods {
		if err := os.WriteFile(filepath.Join(p.dir, gateFile), nil, 0o600); err != nil {
			r.tally.Other.add("%v", err)
		}
	}
}

// end ends podd, or what it writes to.
func (r *round) end(p *pod, state, how string) error {
	switch how {
	case "SIGKILL":
		r.kill()
	case "SIGABRT":
		// It ends podd as a panic of its own does, with all stacks and status 2.
		r.podd.signal(syscall.SIGABRT)
		<-r.podd.exited
		r.tally.Ends++
	case "SIGTERM":
		r.podd.signal(syscall.SIGTERM)
		r.openGates()
		r.drained()
	case "SIGTERM-twice":
		r.terminate(true)
	case "ENOSPC":
		return r.fullDisk(p, state)
	case "EIO":
		return r.brokenDisk(p)
	}
	return nil
}

// fullDisk lets podd run out of space, and gives it back once podd has said so.
func (r *round) fullDisk(p *pod, state string) error {
	f, err := r.attach(spaceCalls, "ENOSPC")
	if err != nil {
		return err
	}
	defer f.lift()
	r.openGates()
	r.tasks.Go(func() { p.submits.submit(r.ctx, "job-7: shell/5/0") })
	turn := state == "streaming" || state == "tool" || state == "queued" || state == "compaction"
	told := func() bool {
		stuck := strings.HasPrefix(r.state(p).GetStateReason(), "can't go on")
		return r.podd.over() || p.submits.refusals() > 0 && (stuck || !turn)
	}
	if !await(r.ctx, told) {
		return r.stuck()
	}
	r.tally.Ends++
	f.lift()
	if r.podd.over() && r.podd.sawDetach {
		return nil
	}
	if r.podd.over() {
		r.tally.Other.add("podd ended on a full disk: %v", r.podd.cmd.ProcessState)
		return nil
	}
	alerted := func() bool {
		return p.raw.has(func(e *poddv1.Entry) bool {
			return strings.Contains(e.GetAlert().GetText(), "can't go on and tries again")
		})
	}
	if turn && !await(r.ctx, func() bool { return alerted() || r.podd.over() }) {
		r.tally.Other.add("a full disk stopped a turn and no alert says so")
	}
	return nil
}

// brokenDisk lets what podd writes fail: it has to end by itself.
func (r *round) brokenDisk(p *pod) error {
	f, err := r.attach("pwrite64,fdatasync,fsync", "EIO")
	if err != nil {
		return err
	}
	defer f.lift()
	r.openGates()
	r.tasks.Go(func() { p.submits.submit(r.ctx, "job-7: shell/5/0") })
	if !await(r.ctx, r.podd.over) {
		return r.stuck()
	}
	r.tally.Ends++
	if r.podd.code() != 1 || !r.podd.sawFailure {
		r.tally.Other.add("podd ended on a broken disk with %v (store failed: %v)", r.podd.cmd.ProcessState, r.podd.sawFailure)
	}
	return nil
}

// survived checks what has to be as it was before podd ended.
func (r *round) survived(p *pod, state string) {
	switch state {
	case "approval":
		var list *poddv1.ListApprovalsResponse
		asked := func() (err error) {
			list, err = r.client.Approvals().ListApprovals(r.ctx, &poddv1.ListApprovalsRequest{Pod: p.name})
			return err
		}
		if !await(r.ctx, func() bool { return asked() == nil }) || len(list.GetApprovals()) != 1 {
			r.tally.Other.add("one call waited for approval, and now: %v", list)
		}
	case "paused":
		if !await(r.ctx, func() bool { return r.state(p).GetState() == poddv1.PodState_POD_STATE_PAUSED }) {
			r.tally.Other.add("the pod was paused and is %v", r.state(p))
		}
	}
}
