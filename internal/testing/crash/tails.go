package crash

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	poddv1 "podd/proto/podd/v1"
)

// podctl is a call of a build's podctl.
func (u *upgrade) podctl(ctx context.Context, build string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(build, "podctl"), append([]string{"--state-dir", filepath.Join(u.dir, "s"), "-o", "json"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + u.dir}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	return cmd
}

// builds are both.
func (u *upgrade) builds() []string { return []string{u.Older, u.Newer} }

// tail is a podctl that follows a pod by itself over all restarts.
type tail struct {
	pod string
	// last is the newest entry that it printed.
	last atomic.Int64
	// wrong is set before its end.
	wrong error
}

// tail lets a podctl of each build follow two pods.
func (u *upgrade) tail() {
	var ctx context.Context
	ctx, u.untail = context.WithCancel(u.ctx)
	for _, p := range u.all()[:2] {
		for _, build := range u.builds() {
			t := &tail{pod: p.name}
			u.tails = append(u.tails, t)
			u.tailed.Go(func() { t.wrong = t.run(ctx, u.podctl(ctx, build, "tail", p.name, "-f", "--after", "0")) })
		}
	}
}

// run reads what the podctl prints: each entry once and in order.
func (t *tail) run(ctx context.Context, cmd *exec.Cmd) error {
	var says bytes.Buffer
	cmd.Stderr = &says
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var line struct {
			Entry struct {
				Seq int64 `json:"seq,string"`
			} `json:"entry"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return errors.Join(fmt.Errorf("%w in %.200q", err, lines.Bytes()), cmd.Cancel(), cmd.Wait())
		}
		switch seq := line.Entry.Seq; {
		case seq == 0: // It has caught up.
		case seq != t.last.Load()+1:
			return errors.Join(fmt.Errorf("entry %d came after entry %d", seq, t.last.Load()), cmd.Cancel(), cmd.Wait())
		default:
			t.last.Store(seq)
		}
	}
	if err := cmd.Wait(); ctx.Err() == nil {
		return fmt.Errorf("it ended with %w: %s", err, says.String())
	}
	return nil
}

// compareTails waits until each podctl has printed all entries, and ends them.
func (u *upgrade) compareTails() error {
	late, cancel := context.WithTimeout(u.ctx, followTime)
	defer cancel()
	for _, t := range u.tails {
		p := u.state(&pod{name: t.pod})
		if !await(late, func() bool { return t.last.Load() >= p.GetLastSeq() }) {
			u.tally.Gaps.add("podctl tail -f printed %d entries of %d of %s", t.last.Load(), p.GetLastSeq(), t.pod)
		}
	}
	u.untail()
	u.tailed.Wait()
	for _, t := range u.tails {
		if t.wrong != nil {
			u.tally.Gaps.add("podctl tail -f %s: %v", t.pod, t.wrong)
		}
	}
	return nil
}

// crossed lets each podctl talk to the podd that runs now: it lists all pods, and submits.
func (u *upgrade) crossed() error {
	for i, build := range u.builds() {
		list, err := u.podctl(u.ctx, build, "list").Output()
		if n := bytes.Count(list, []byte(`"name":`)); err != nil || n < upgradePods {
			u.tally.Other.add("podctl list of build %d names %d pods: %v", i, n, err)
		}
		p := u.all()[u.random.IntN(upgradePods)]
		u.count++
		a := ack{
			id: fmt.Sprintf("%s-podctl-%d", p.name, u.count), text: fmt.Sprintf("job-%d: shell/5/0", podctlJobs+u.count),
			mode: poddv1.SubmitMode_SUBMIT_MODE_QUEUE, from: time.Now(),
		}
		said, err := u.podctl(u.ctx, build, "submit", "-p", p.name, "--no-stdin", "--literal", "--request-id", a.id, a.text).Output()
		var answer struct {
			Seq string `json:"seq"`
		}
		if err == nil {
			err = json.Unmarshal(said, &answer)
		}
		if err == nil {
			a.seq, err = strconv.ParseInt(answer.Seq, 10, 64)
		}
		if err != nil {
			u.tally.Other.add("podctl submit of build %d: %v: %s", i, err, said)
			continue
		}
		a.until = time.Now()
		p.submits.took(a)
	}
	return u.ctx.Err()
}

// podctlJobs is the first number of the jobs that podctl submits.
const podctlJobs = 50_000
