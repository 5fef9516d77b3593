package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// act is something that a client does to a pod beside giving it jobs.
type act struct {
	name string
	// do makes the call, once. It sets what the log is going to know the deed by.
	do func(h *hand, d *deed) error
	// found says whether the log has a deed that was acknowledged; count is how many of
	// the kind it has. Both are nil for what is checked where it is done.
	found func(c *checker, d deed) bool
	count func(c *checker) int
}

// acts are all of them.
var acts = []act{
	{name: "steer", do: (*hand).steer},
	{name: "send again", do: (*hand).again},
	{name: "pause", do: (*hand).pause},
	{"withdraw", (*hand).withdraw, (*checker).withdrew, (*checker).withdrawals},
	{"cancel", (*hand).cancel, (*checker).cancelled, (*checker).cancels},
	{"note", (*hand).note, (*checker).noted, (*checker).ownNotes},
	{"rewind", (*hand).rewind, (*checker).rewound, (*checker).rewinds},
	{"compact", (*hand).compact, (*checker).compacted, (*checker).compactions},
	{"fork", (*hand).fork, (*checker).forked, (*checker).ownForks},
}

// deed is an act as its client knows it.
type deed struct {
	act string
	// mark is a request id, a reason, a text or a name that no other deed has; seq is the
	// entry that the answer named, or that a fork was made at; turn the one that it ended.
	mark      string
	seq, turn int64
	// at is when podd had answered. sure says that it did; without, the deed may have been
	// done or not.
	at   time.Time
	sure bool
}

// errNothing says that there was nothing to do it to.
var errNothing = errors.New("nothing to do")

// hand does things to one pod, one at a time.
type hand struct {
	*round
	// ctx ends what waits for the pod.
	ctx    context.Context
	pod    *pod
	random *rand.Rand
	// deeds counts them, jobs are those that the pod was given.
	count, jobs int
}

// next does one of the acts and notes what came of it.
func (h *hand) next() {
	a := acts[h.random.IntN(len(acts))]
	h.count++
	d := deed{act: a.name, mark: fmt.Sprintf("%s-%s-%d", h.pod.name, a.name[:4], h.count)}
	err := a.do(h, &d)
	d.at = time.Now()
	switch k := item.KindOf(err); {
	case errors.Is(err, errNothing):
		return
	case err == nil:
		d.sure = true
	case k == item.KindUnavailable, h.round.ctx.Err() != nil:
	case k == item.KindPrecondition, k == item.KindExhausted, item.ReasonOf(err) == "NOT_WAITING":
		return // It must not be in the log, which count shows.
	default:
		h.pod.submits.complain("%s: %v", a.name, err)
		return
	}
	h.pod.submits.did(d)
}

// job is the next prompt.
func (h *hand) job() string {
	h.jobs++
	return randomJob(h.random, h.jobs, h.answers)
}

// atRest waits until the pod has nothing to do.
func (h *hand) atRest() error {
	idle := func() bool {
		p := h.state(h.pod)
		return p.GetState() == poddv1.PodState_POD_STATE_IDLE && p.GetQueued() == 0
	}
	if !await(h.ctx, idle) {
		return errNothing
	}
	return nil
}

func (h *hand) steer(*deed) error {
	if !h.pod.submits.give(h.ctx, h.job(), poddv1.SubmitMode_SUBMIT_MODE_STEER) {
		return errNothing
	}
	return nil
}

// again sends a submit again that podd has.
func (h *hand) again(*deed) error {
	acked := h.pod.submits.all()
	h.pod.submits.again(h.ctx, acked[h.random.IntN(len(acked))])
	return nil
}

// pause holds the pod for a while. That it is held stays so until it is let go.
func (h *hand) pause(d *deed) error {
	ask := func(call func() error) (err error) {
		await(h.round.ctx, func() bool {
			err = call()
			return item.KindOf(err) != item.KindUnavailable && item.KindOf(err) != item.KindExhausted
		})
		return err
	}
	err := ask(func() error {
		_, err := h.client.Pods().Pause(h.round.ctx, &poddv1.PauseRequest{Pod: h.pod.name, Reason: d.mark})
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
		_, err := h.client.Pods().Resume(h.round.ctx, &poddv1.ResumeRequest{Pod: h.pod.name})
		return err
	})
}

// withdraw takes back a submit that was just made.
func (h *hand) withdraw(d *deed) error {
	if !h.pod.submits.submit(h.ctx, h.job()) {
		return errNothing
	}
	acked := h.pod.submits.all()
	d.mark = acked[len(acked)-1].id
	_, err := h.client.Pods().CancelInboxItem(h.round.ctx, &poddv1.CancelInboxItemRequest{Pod: h.pod.name, RequestId: d.mark})
	return err
}

// cancel ends the turn that runs.
func (h *hand) cancel(d *deed) error {
	pause(h.ctx, time.Duration(h.random.IntN(60))*time.Millisecond)
	resp, err := h.client.Pods().Cancel(h.round.ctx, &poddv1.CancelRequest{Pod: h.pod.name, Reason: d.mark})
	if err == nil && !resp.GetCancelled() {
		return errNothing
	}
	d.turn = resp.GetTurn()
	return err
}

func (h *hand) note(d *deed) error {
	resp, err := h.client.Pods().Notify(h.round.ctx, &poddv1.NotifyRequest{Pod: h.pod.name, Text: d.mark, Wake: h.random.IntN(2) == 0})
	d.seq = resp.GetSeq()
	return err
}

// rewind takes back a part of what was said. A place that it can't go to is refused.
func (h *hand) rewind(d *deed) error {
	if err := h.atRest(); err != nil {
		return err
	}
	to := max(1, h.pod.raw.last()-int64(h.random.IntN(20)))
	resp, err := h.client.Pods().RewindPod(h.round.ctx, &poddv1.RewindPodRequest{Pod: h.pod.name, ToSeq: to})
	d.seq = resp.GetSeq()
	return err
}

func (h *hand) compact(d *deed) error {
	if err := h.atRest(); err != nil {
		return err
	}
	resp, err := h.client.Pods().Compact(h.round.ctx, &poddv1.CompactRequest{Pod: h.pod.name})
	d.seq = resp.GetSeq()
	return err
}

// fork makes one pod of another's log as it is, which then works as well.
func (h *hand) fork(d *deed) error {
	d.seq = h.pod.raw.last()
	if d.seq == 0 || h.pod.forked {
		return errNothing
	}
	known := h.round.expect(d.mark)
	defer known()
	_, err := h.client.Pods().ForkPod(h.round.ctx, &poddv1.ForkPodRequest{Pod: h.pod.name, Name: d.mark, AtSeq: d.seq})
	if err != nil {
		// It may be there all the same.
		if _, missing := h.client.Pod(h.round.ctx, d.mark); missing != nil {
			return err
		}
	}
	h.pod.forked = true
	fork := h.adopt(d.mark, h.pod.dir)
	known()
	fork.submits.submit(h.ctx, h.job())
	return err
}

// found, count and the like: what the log has of each.

func (c *checker) withdrew(d deed) bool { return c.withdrawn[d.mark] > 0 }
func (c *checker) withdrawals() int     { return c.kinds["withdrawn"] }

// cancelled is a turn that had ended when podd said so: as cancelled, or by itself just
// before.
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

func (c *checker) noted(d deed) bool { return c.at(d).GetNote().GetText() == d.mark }
func (c *checker) ownNotes() int     { return c.kinds["note"] }

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

// deeds holds the log to what clients were told: what was acknowledged is there, and
// nothing is there that was not asked for, or twice.
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
