package crash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// states are the states to bring a pod into, ends the ways to end or stop podd.
var (
	states = []string{"idle", "streaming", "tool", "approval", "queued", "compaction", "paused", "job", "typing"}
	ends   = []string{"SIGTERM", "SIGKILL", "SIGTERM-twice", "SIGUSR1", "SIGABRT", "ENOSPC", "EIO"}
)

// matrixRounds runs each end in each state.
func (rn *runner) matrixRounds(ctx context.Context, t *Tally) error {
	n := 0
	ends := ends
	if rn.server != nil {
		ends = databaseEnds
	}
	for i, state := range states {
		for j, end := range ends {
			n++
			if rn.Short && (i+j)%len(states) > 0 {
				continue
			}
			s := settings{api: apis[(i+j)%len(apis)], asks: true}
			err := rn.round(ctx, t, state+"-"+end, s, uint64(n), func(r *round) error { return matrixRound(r, state, end) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// cell is one end in one state: a round with a pod, and that pod's state.
type cell struct {
	*round
	pod *pod
	in  string
	// late is a submit while podd or its store fails.
	late sync.WaitGroup
}

// submitLate submits a job that may have to wait for podd.
func (c *cell) submitLate() {
	c.late.Go(func() { c.pod.submits.submit(c.ctx, "job-7: shell/5/0") })
}

// matrixRound brings a pod into a state, ends podd, and lets the work continue.
func matrixRound(r *round, state, end string) error {
	p, err := r.addPod("p")
	if err != nil {
		return err
	}
	c := &cell{round: r, pod: p, in: state}
	r.follow()
	if err := r.up(); err != nil {
		return err
	}
	if err := r.createAll(); err != nil {
		return err
	}
	can, err := c.reach()
	if err != nil {
		return err
	}
	if !can {
		r.tally.Rounds, r.tally.Skipped = 0, 1
		return nil
	}
	if err := c.end(end); err != nil {
		return err
	}
	if err := r.up(); err != nil {
		return err
	}
	c.survived()
	c.jobSurvived(end)
	c.openGates()
	r.serveApprovals()
	if state == "paused" {
		if err := c.resume(); err != nil {
			return err
		}
	}
	p.submits.submit(r.ctx, "job-8: shell/5/0")
	if c.hasJob() {
		p.submits.submit(r.ctx, "job-9: type")
	}
	c.late.Wait()
	return r.finish()
}

// reach brings the pod into a state. can is false when this podd does not have that
// state.
func (c *cell) reach() (can bool, err error) {
	submit := func(text string) { c.pod.submits.submit(c.ctx, text) }
	var there func() bool
	switch c.in {
	case "idle":
		submit("job-1: shell/5/0")
		there = func() bool {
			return c.busy() == "" && c.pod.raw.has(func(e *poddv1.Entry) bool { return e.GetTurnEnded() != nil })
		}
	case "streaming":
		submit("job-1: stall; shell/5/0")
		there = func() bool { return c.model.hasStalled("stream") }
	case "tool", "queued", "paused":
		submit("job-1: hold; shell/5/0")
		if c.in == "queued" {
			submit("job-2: shell/5/0")
		}
		there = func() bool { return c.pod.hasFile(ranFile) }
	case "job":
		submit("job-1: back")
		there = func() bool { return c.busy() == "" && c.state(c.pod).GetJobs() == 1 }
	case "typing":
		submit("job-1: back; type")
		there = func() bool { return c.pod.hasFile(typedFile) }
	case "approval":
		if _, err := c.client.Approvals().ListApprovals(c.ctx, &poddv1.ListApprovalsRequest{}); item.KindOf(err) == item.KindUnimplemented {
			return false, nil
		}
		submit("job-1: ask/5/0; shell/5/0")
		there = func() bool {
			return c.pod.raw.has(func(e *poddv1.Entry) bool { return e.GetApprovalRequested() != nil })
		}
	case "compaction":
		c.model.most = 12
		for i := range 4 {
			submit(fmt.Sprintf("job-%d: shell/5/0; read; write", i+1))
		}
		there = func() bool { return c.model.hasStalled("compaction") }
	}
	if !await(c.ctx, there) {
		return true, c.stuck()
	}
	if c.in == "paused" {
		return c.pause()
	}
	return true, nil
}

func (p *pod) hasFile(name string) bool {
	_, err := os.Stat(filepath.Join(p.dir, name))
	return err == nil
}

// pause pauses the pod in the middle of its turn.
func (c *cell) pause() (can bool, err error) {
	_, err = c.client.Pods().Pause(c.ctx, &poddv1.PauseRequest{Pod: c.pod.name})
	if item.KindOf(err) == item.KindUnimplemented {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	if err := os.WriteFile(filepath.Join(c.pod.dir, gateFile), nil, 0o600); err != nil {
		return true, err
	}
	if !await(c.ctx, func() bool { return c.state(c.pod).GetState() == poddv1.PodState_POD_STATE_PAUSED }) {
		return true, c.stuck()
	}
	return true, nil
}

// resume resumes the pod, once podd can say so.
func (c *cell) resume() error {
	var err error
	asked := func() bool {
		_, err = c.client.Pods().Resume(c.ctx, &poddv1.ResumeRequest{Pod: c.pod.name})
		return item.KindOf(err) != item.KindUnavailable && item.KindOf(err) != item.KindExhausted
	}
	await(c.ctx, asked)
	return err
}

// state is the pod as podd shows it; nil while podd does not answer.
func (s *scene) state(p *pod) *poddv1.Pod {
	resp, err := s.client.Pods().GetPod(s.ctx, &poddv1.GetPodRequest{Pod: p.name})
	if err != nil {
		return nil
	}
	return resp.GetPod()
}

// openGates releases held commands and stalled answers.
func (c *cell) openGates() {
	if !done(c.model.gate) {
		close(c.model.gate)
	}
	for _, p := range c.pods {
		if err := os.WriteFile(filepath.Join(p.dir, gateFile), nil, 0o600); err != nil {
			c.tally.Other.add("%v", err)
		}
	}
}

// end ends podd, or makes its writes fail.
func (c *cell) end(how string) error {
	switch how {
	case "SIGKILL":
		c.kill()
	case "SIGABRT":
		// It ends podd like a panic, with all stacks and status 2.
		c.podd.signal(syscall.SIGABRT)
		<-c.podd.exited
		c.tally.Ends++
	case "SIGTERM":
		c.podd.signal(syscall.SIGTERM)
		c.openGates()
		c.drained()
	case "SIGTERM-twice":
		c.terminate(true)
	case "SIGUSR1":
		// A restart: what is held runs on, and need not be waited for.
		c.podd.signal(syscall.SIGUSR1)
		pause(c.ctx, time.Duration(c.random.IntN(30))*time.Millisecond)
		c.podd.signal(syscall.SIGUSR1)
		c.drained()
	case "ENOSPC":
		return c.fullDisk()
	case "EIO":
		return c.brokenDisk()
	default:
		return c.endDatabase(how)
	}
	return nil
}

// fullDisk fills podd's disk, and frees the space once podd has reported it.
func (c *cell) fullDisk() error {
	f, err := c.attach(spaceCalls, "ENOSPC")
	if err != nil {
		return err
	}
	defer f.lift()
	c.openGates()
	c.submitLate()
	turn := c.in == "streaming" || c.in == "tool" || c.in == "queued" || c.in == "compaction" || c.in == "typing"
	told := func() bool {
		stuck := strings.HasPrefix(c.state(c.pod).GetStateReason(), "blocked")
		return c.podd.over() || c.pod.submits.refusals() > 0 && (stuck || !turn)
	}
	if !await(c.ctx, told) {
		return c.stuck()
	}
	c.tally.Ends++
	f.lift()
	if c.podd.over() && c.podd.sawDetach {
		return nil
	}
	if c.podd.over() {
		c.tally.Other.add("podd ended on a full disk: %v", c.podd.cmd.ProcessState)
		return nil
	}
	alerted := func() bool {
		return c.pod.raw.has(func(e *poddv1.Entry) bool {
			return strings.Contains(e.GetAlert().GetText(), "is blocked; retrying")
		})
	}
	if turn && !await(c.ctx, func() bool { return alerted() || c.podd.over() }) {
		c.tally.Other.add("a full disk stopped a turn and no alert says so")
	}
	return nil
}

// brokenDisk makes podd's writes fail: podd has to end by itself.
func (c *cell) brokenDisk() error {
	f, err := c.attach("pwrite64,fdatasync,fsync", "EIO")
	if err != nil {
		return err
	}
	defer f.lift()
	c.openGates()
	c.submitLate()
	if !await(c.ctx, c.podd.over) {
		return c.stuck()
	}
	c.tally.Ends++
	if c.podd.code() != 1 || !c.podd.sawFailure {
		c.tally.Other.add("podd ended on a broken disk with %v (store failed: %v)", c.podd.cmd.ProcessState, c.podd.sawFailure)
	}
	return nil
}

// survived checks what must be as before podd ended.
func (c *cell) survived() {
	switch c.in {
	case "approval":
		var list *poddv1.ListApprovalsResponse
		asked := func() (err error) {
			list, err = c.client.Approvals().ListApprovals(c.ctx, &poddv1.ListApprovalsRequest{Pod: c.pod.name})
			return err
		}
		if !await(c.ctx, func() bool { return asked() == nil }) || len(list.GetApprovals()) != 1 {
			c.tally.Other.add("one call waited for approval, and now: %v", list)
		}
	case "paused":
		if !await(c.ctx, func() bool { return c.state(c.pod).GetState() == poddv1.PodState_POD_STATE_PAUSED }) {
			c.tally.Other.add("the pod was paused and is %v", c.state(c.pod))
		}
	}
}
