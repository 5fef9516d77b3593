package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// act is something that a client does to a pod besides submitting jobs.
type act struct {
	name string
	// do makes the call, once. It sets the fields by which the log identifies the deed.
	do func(h *hand, d *deed) error
	// found says whether the log has an acknowledged deed; count is how many deeds of its
	// kind it has. Both are nil for a deed that do checks itself.
	found func(c *checker, d deed) bool
	count func(c *checker) int
}

// acts are all of them.
var acts = []act{
	{name: "steer", do: (*hand).steer},
	{name: "send again", do: (*hand).check},
	{name: "pause", do: (*hand).pause},
	{"withdraw", (*hand).withdraw, (*checker).withdrew, (*checker).withdrawals},
	{"cancel", (*hand).cancel, (*checker).cancelled, (*checker).cancels},
	{"note", (*hand).note, (*checker).noted, (*checker).ownNotes},
	{"rewind", (*hand).rewind, (*checker).rewound, (*checker).rewinds},
	{"compact", (*hand).compact, (*checker).compacted, (*checker).compactions},
	{"fork", (*hand).fork, (*checker).forked, (*checker).ownForks},
	{name: "job of a fork", do: (*hand).forksJob},
}

// deed is an act as its client knows it.
type deed struct {
	act string
	// mark is a request id, a reason, a text or a name that no other deed has. seq is the
	// entry that the answer named, or at which a fork was made; turn is the turn that it
	// ended.
	mark      string
	seq, turn int64
	// at is when podd answered. sure says that it did; otherwise the deed may or may not
	// have been done.
	at   time.Time
	sure bool
	// from is when the client asked.
	from time.Time
}

// errNothing says that there was nothing to act on.
var errNothing = errors.New("nothing to do")

// hand performs acts on one pod, one at a time.
type hand struct {
	*scene
	// client is that of the podd which it asks.
	client *client.Client
	// ctx ends the waits for the pod.
	ctx    context.Context
	pod    *pod
	random *rand.Rand
	// deeds counts the acts, jobs are the jobs submitted to the pod.
	count, jobs int
}

// next performs one act and records its outcome.
func (h *hand) next() {
	a := acts[h.random.IntN(len(acts))]
	h.count++
	d := deed{act: a.name, from: time.Now(), mark: fmt.Sprintf("%s-%s-%d", h.pod.name, a.name[:4], h.count)}
	err := a.do(h, &d)
	d.at = time.Now()
	switch k := item.KindOf(err); {
	case errors.Is(err, errNothing):
		return
	case err == nil:
		d.sure = true
	case k == item.KindUnavailable, h.scene.ctx.Err() != nil:
	case k == item.KindPrecondition, k == item.KindExhausted, item.ReasonOf(err) == "NOT_WAITING":
		return // The log must not have it, which count checks.
	default:
		h.pod.submits.complain("%s: %v", a.name, err)
		return
	}
	h.pod.submits.did(d)
}

// job is the next prompt.
func (h *hand) job() string {
	h.jobs++
	text := randomJob(h.random, h.jobs, h.answers)
	if h.several { // No pod has a job that runs all the time: it ends when the pod is moved.
		text = strings.ReplaceAll(text, "type", "read")
	}
	if h.mixed { // The older build may have no letters, and no pods in the background.
		text = strings.NewReplacer("send", "read", "begin", "spawn", "wait", "read").Replace(text)
	}
	if h.unasked {
		text = strings.ReplaceAll(text, "question", "read")
	}
	return text
}

// atRest waits until the pod has nothing to do.
func (h *hand) atRest() error {
	if !await(h.ctx, func() bool { return resting(h.state(h.pod)) }) {
		return errNothing
	}
	return nil
}

func (h *hand) steer(*deed) error {
	if !h.pod.submits.submitAs(h.ctx, h.job(), poddv1.SubmitMode_SUBMIT_MODE_STEER) {
		return errNothing
	}
	return nil
}

// check resends a submit that podd already has.
func (h *hand) check(*deed) error {
	acked := h.pod.submits.all()
	h.pod.submits.resubmit(h.ctx, acked[h.random.IntN(len(acked))])
	return nil
}

// pause pauses the pod for a while. It stays paused until it is resumed.
func (h *hand) pause(d *deed) error {
	ask := func(call func() error) (err error) {
		await(h.scene.ctx, func() bool {
			err = call()
			return item.KindOf(err) != item.KindUnavailable && item.KindOf(err) != item.KindExhausted
		})
		return err
	}
	err := ask(func() error {
		_, err := h.client.Pods().Pause(h.scene.ctx, &poddv1.PauseRequest{Pod: h.pod.name, Reason: d.mark})
		return err
	})
	if err != nil {
		return err
	}
	pause(h.ctx, time.Duration(h.random.IntN(300))*time.Millisecond)
	var now *poddv1.Pod
	await(h.ctx, func() bool { now = h.state(h.pod); return now != nil })
	if now != nil && now.GetPause().GetReason() != d.mark {
		h.pod.submits.complain("paused as %s and is %v", d.mark, now)
	}
	return ask(func() error {
		_, err := h.client.Pods().Resume(h.scene.ctx, &poddv1.ResumeRequest{Pod: h.pod.name})
		return err
	})
}

// withdraw withdraws a submit that it just made.
func (h *hand) withdraw(d *deed) error {
	if !h.pod.submits.submit(h.ctx, h.job()) {
		return errNothing
	}
	acked := h.pod.submits.all()
	d.mark = acked[len(acked)-1].id
	_, err := h.client.Pods().CancelInboxItem(h.scene.ctx, &poddv1.CancelInboxItemRequest{Pod: h.pod.name, RequestId: d.mark})
	return err
}

// cancel ends the running turn.
func (h *hand) cancel(d *deed) error {
	pause(h.ctx, time.Duration(h.random.IntN(60))*time.Millisecond)
	resp, err := h.client.Pods().Cancel(h.scene.ctx, &poddv1.CancelRequest{Pod: h.pod.name, Reason: d.mark})
	if err == nil && !resp.GetCancelled() {
		return errNothing
	}
	d.turn = resp.GetTurn()
	return err
}

func (h *hand) note(d *deed) error {
	notify := h.client.Notify
	if h.mixed { // The older build may not know a letter again.
		notify = func(ctx context.Context, r *poddv1.NotifyRequest) (*poddv1.NotifyResponse, error) {
			return h.client.Pods().Notify(ctx, r)
		}
	}
	resp, err := notify(h.scene.ctx, &poddv1.NotifyRequest{Pod: h.pod.name, Text: d.mark, Wake: h.random.IntN(2) == 0})
	d.seq = resp.GetSeq()
	return err
}

// rewind undoes a part of the conversation. podd refuses an entry that it cannot rewind
// to.
func (h *hand) rewind(d *deed) error {
	if err := h.atRest(); err != nil {
		return err
	}
	to := max(1, h.pod.raw.last()-int64(h.random.IntN(20)))
	resp, err := h.client.Pods().RewindPod(h.scene.ctx, &poddv1.RewindPodRequest{Pod: h.pod.name, ToSeq: to})
	d.seq = resp.GetSeq()
	return err
}

func (h *hand) compact(d *deed) error {
	if err := h.atRest(); err != nil {
		return err
	}
	resp, err := h.client.Pods().Compact(h.scene.ctx, &poddv1.CompactRequest{Pod: h.pod.name})
	d.seq = resp.GetSeq()
	return err
}

// fork makes a new pod of the log as it is, or was at the end of a turn, which then works as well.
func (h *hand) fork(d *deed) error {
	d.seq = h.pod.raw.last()
	if h.random.IntN(2) == 0 {
		d.seq = h.pod.raw.endOfTurn(h.random)
	}
	if d.seq == 0 || len(h.pod.forks) > 0 {
		return errNothing
	}
	known := h.scene.expect(d.mark)
	defer known()
	_, err := h.client.Pods().ForkPod(h.scene.ctx, &poddv1.ForkPodRequest{Pod: h.pod.name, Name: d.mark, AtSeq: d.seq})
	if err != nil {
		// The fork may exist anyway.
		if _, missing := h.client.Pod(h.scene.ctx, d.mark); missing != nil {
			return err
		}
	}
	fork := h.adopt(d.mark, h.pod)
	known()
	fork.submits.submit(h.ctx, h.job())
	return err
}

// forksJob gives a fork a job.
func (h *hand) forksJob(*deed) error {
	if len(h.pod.forks) == 0 {
		return errNothing
	}
	fork := h.pod.forks[h.random.IntN(len(h.pod.forks))]
	if !fork.submits.submit(h.ctx, h.job()) {
		return errNothing
	}
	return nil
}

// found, count and the like: what the log has of each.

func (c *checker) withdrew(d deed) bool { return c.withdrawn[d.mark] > 0 }
func (c *checker) withdrawals() int     { return c.kinds["withdrawn"] }

// cancelled accepts a turn that had ended when podd answered: as cancelled, or by itself
// just before.
func (c *checker) cancelled(d deed) bool {
	if d.turn == 0 {
		return true // It was a compaction, which leaves no entry.
	}
	e := c.ends[d.turn]
	return e != nil && !e.GetTime().AsTime().After(d.at) &&
		(e.GetTurnEnded().GetCause() == d.mark || e.GetTurnEnded().GetOutcome() != poddv1.Outcome_OUTCOME_CANCELLED)
}

func (c *checker) cancels() int {
	n := 0
	for _, e := range c.ends {
		if c.own(e) && e.GetTurnEnded().GetOutcome() == poddv1.Outcome_OUTCOME_CANCELLED {
			n++
		}
	}
	return n
}

func (c *checker) noted(d deed) bool {
	// A letter's entry comes first, and its note in the same commit. A podd without letters stored the note alone.
	next := d
	next.seq++
	return c.at(next).GetNote().GetText() == d.mark || c.at(d).GetNote().GetText() == d.mark
}
func (c *checker) ownNotes() int { return c.kinds["note"] }

func (c *checker) rewound(d deed) bool { return c.at(d).GetRewind() != nil }
func (c *checker) rewinds() int        { return c.kinds["rewind"] }

func (c *checker) compacted(d deed) bool { return c.at(d).GetCompaction() != nil }
func (c *checker) compactions() int      { return c.kinds["compaction"] }

func (c *checker) forked(d deed) bool { return c.forks[d.mark] }
func (c *checker) ownForks() int      { return len(c.forks) }

// at is the entry that an answer named.
func (c *checker) at(d deed) *poddv1.Entry {
	if d.seq < 1 || d.seq > int64(len(c.log)) {
		return nil
	}
	return c.log[d.seq-1]
}

// deeds compares the log with what clients learned: it has every acknowledged deed, and
// none twice or without a request.
func (c *checker) deeds(done []deed) {
	for _, a := range acts {
		asked := 0
		for _, d := range done {
			if d.act != a.name {
				continue
			}
			asked++
			c.t.act(a.name, d.sure)
			if d.sure && a.found != nil && !a.found(c, d) {
				c.t.Lost.add("%s: %s was acknowledged and is not in the log: %+v", c.pod, a.name, d)
			}
		}
		if a.count != nil && a.count(c) > asked {
			c.t.Repeated.add("%s: %d times %s, which was asked for %d times", c.pod, a.count(c), a.name, asked)
		}
	}
}
