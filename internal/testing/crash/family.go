package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"podd/internal/spec"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// kin is a pod that podd has: one of the round's own, a fork or a sub-pod.
type kin struct {
	*poddv1.Pod
	*checker
}

// inspection compares the outcome of a round with what its clients know.
type inspection struct{ *scene }

// family reads the logs of all pods and folds them.
func (i *inspection) family() ([]kin, error) {
	list, err := i.client.Pods().ListPods(i.ctx, &poddv1.ListPodsRequest{})
	if err != nil {
		return nil, err
	}
	var all []kin
	for _, p := range list.GetPods() {
		log, err := i.log(p.GetName())
		if err != nil {
			return nil, err
		}
		from := i.forkedAt(p.GetName())
		i.keeps(p.GetName(), log, from)
		all = append(all, kin{p, checkLog(p.GetName(), log, from, i.tally)})
	}
	return all, nil
}

// keeps checks the invariants of any log.
func (i *inspection) keeps(pod string, log []*poddv1.Entry, from int64) {
	c := spec.New(item.Seq(from))
	for _, e := range log {
		c.Add(wire.EntryFromProto(e))
	}
	for _, f := range c.Found() {
		i.tally.Broken.add("%s: %s", pod, f)
	}
}

func (i *inspection) log(pod string) (log []*poddv1.Entry, err error) {
	for m, err := range i.client.Stream(i.ctx, client.StreamOptions{Pod: pod}) {
		if err != nil {
			return nil, fmt.Errorf("the log of %s cannot be read: %w", pod, err)
		}
		if e := m.GetEntry(); e != nil {
			log = append(log, e)
		}
	}
	return log, nil
}

// forkedAt is the entry at which a fork was made; 0 for other pods.
func (i *inspection) forkedAt(name string) int64 {
	for _, p := range i.all() {
		for _, d := range p.submits.done() {
			if d.act == "fork" && d.mark == name {
				return d.seq
			}
		}
	}
	return 0
}

// forked compares a fork with its source: it has all entries up to the fork, and a cut
// turn ends right after them.
func forked(p *pod, of, fork kin) bool {
	at := int(fork.from)
	if len(fork.log) < at || len(of.log) < at || fork.GetSpec().GetParent() != "" || fork.GetSpec().GetDir() != p.dir {
		return false
	}
	return !slices.ContainsFunc(fork.log[:at], func(e *poddv1.Entry) bool { return differ(e, of.log[e.GetSeq()-1]) })
}

// spawned compares sub-pods with the calls that spawned them: each call has one, which
// got its task once, and its answer is the result.
func (i *inspection) spawned(all []kin) {
	children := make(map[string][]kin)
	for _, k := range all {
		if parent := k.GetSpec().GetParent(); parent != "" && k.GetSpec().GetParentCall() != "" {
			children[parent+" "+k.GetSpec().GetParentCall()] = append(children[parent+" "+k.GetSpec().GetParentCall()], k)
		}
	}
	for _, k := range all {
		for id, s := range k.calls {
			call := i.model.made(id)
			if call.verb != "spawn" || s.seq <= k.from {
				continue
			}
			of := children[k.GetId()+" "+id]
			delete(children, k.GetId()+" "+id)
			cancelled := i.cancels || k.mayCancel || k.wasCancelled(s.turn)
			switch {
			case len(of) > 1:
				i.tally.Repeated.add("%s: the call %s spawned %d pods", k.pod, id, len(of))
			case len(of) == 1 && s.started == 0:
				i.tally.Other.add("%s: the call %s spawned a pod and did not start", k.pod, id)
			case len(of) == 1:
				i.child(k, s, of[0], call, cancelled)
			case !s.result.GetIsError() || !cancelled && !strings.Contains(s.result.GetSummary(), "not run: "):
				i.tally.Other.add("%s: the call %s spawned no pod: %s", k.pod, id, s.result.GetSummary())
			}
		}
	}
	for call := range children {
		i.tally.Other.add("a pod was spawned by no call: %s", call)
	}
}

// child compares a sub-pod with its call.
func (i *inspection) child(parent kin, s *callState, k kin, call madeCall, cancelled bool) {
	i.tally.act("spawn", true)
	answer := ""
	if j, ok := parseJob(call.task); ok {
		answer = j.answer()
	}
	end := k.ends[1].GetTurnEnded()
	delivered := !s.result.GetIsError() && strings.Contains(s.result.GetContent(), answer)
	switch finished := end.GetOutcome() == poddv1.Outcome_OUTCOME_FINISHED; {
	case len(k.submitted) > 1 || k.last > 1:
		i.tally.Repeated.add("%s: the task was given %d times, in %d turns", k.pod, len(k.submitted), k.last)
	case finished && !delivered && !cancelled:
		i.tally.ResultsLost.add("%s finished and the result of its call %s is: %s: %q", k.pod, s.result.GetCallId(), s.result.GetSummary(), s.result.GetContent())
	case delivered && !finished:
		i.tally.Other.add("%s did not finish and its call %s has a result that says so", k.pod, s.result.GetCallId())
	case end != nil && !finished && !cancelled:
		i.tally.Other.add("%s: ended as %s, and no client cancelled it: %s", k.pod, end.GetOutcome(), end.GetCause())
	}
	// A podd that stops while its turn is cancelled leaves the end of the sub-pod to the next one.
	if over := parent.ends[s.turn]; over != nil && slices.ContainsFunc(k.log, func(e *poddv1.Entry) bool {
		return (e.GetToolStarted() != nil || e.GetItem().GetToolCall() != nil) && e.GetTime().AsTime().After(over.GetTime().AsTime())
	}) {
		i.tally.Other.add("%s worked on after the turn %d that it worked for had ended", k.pod, s.turn)
	}
}

// check compares all pods with everything known about them.
func (i *inspection) check() error {
	all, err := i.family()
	if err != nil {
		return err
	}
	byName := make(map[string]kin)
	for _, k := range all {
		byName[k.pod] = k
	}
	for _, p := range i.all() {
		if of, ok := byName[p.name]; ok {
			p.relate(of, byName)
		}
	}
	for _, p := range i.all() {
		k, ok := byName[p.name]
		if !ok {
			i.tally.Lost.add("the pod %s is gone", p.name)
			continue
		}
		k.submits(p.submits.all())
		k.deeds(p.submits.done())
		i.streams(p, k.log)
		i.tally.Other = append(i.tally.Other, p.submits.wrong...)
	}
	for _, k := range all {
		context, err := i.client.Pods().GetContext(i.ctx, &poddv1.GetContextRequest{Pod: k.pod})
		if err != nil {
			return err
		}
		k.sends(context)
	}
	i.spawned(all)
	i.began(all)
	i.letters(all)
	if err := i.background(); err != nil {
		return err
	}
	return i.commands(all)
}

// relate tells the checkers the outcome of a pod's forks, and of its and its children's
// commands.
func (p *pod) relate(of kin, byName map[string]kin) {
	for _, d := range p.submits.done() {
		if k, ok := byName[d.mark]; ok && d.act == "fork" {
			of.forks[d.mark] = forked(p, of, k)
		}
	}
	for _, k := range byName {
		if k.pod == p.name || k.GetSpec().GetParent() == of.GetId() {
			k.checker.mayCancel = p.submits.mayCancel()
		}
	}
}

// commands compares the files of commands in each workspace with the logs of the pods
// that work there.
func (i *inspection) commands(all []kin) error {
	for _, p := range i.all() {
		if p.isFork {
			continue // Its commands are with those of the other pod.
		}
		here := slices.DeleteFunc(slices.Clone(all), func(k kin) bool { return k.GetSpec().GetDir() != p.dir })
		if err := errors.Join(i.ran(p.dir, here), i.wrote(p.dir, here)); err != nil {
			return err
		}
	}
	if i.notes != "" {
		return errors.Join(i.noted(i.notes, paidFile, "pay", all), i.noted(i.notes, lookedFile, "look", all))
	}
	return nil
}

// ran compares the commands that ran in a workspace with the logs of its pods.
func (i *inspection) ran(dir string, pods []kin) error {
	ran, err := countLines(filepath.Join(dir, ranFile))
	if err != nil {
		return err
	}
	ended, err := countLines(filepath.Join(dir, endedFile))
	if err != nil {
		return err
	}
	if i.notes != "" {
		i.kept(dir, ran, pods)
		return nil
	}
	known := make(map[string]bool)
	for _, k := range pods {
		k.commands(ran, ended, i.model.calls, i.cancels)
		for id := range k.calls {
			known[id] = true
		}
	}
	for id := range ran {
		if !known[id] {
			i.tally.Other.add("%s: the command of call %s ran and is in no log", dir, id)
		}
	}
	return nil
}

// kept checks commands that began, as far as the disk did not lose their notes: each began once, and no
// result says that one did not begin.
func (i *inspection) kept(dir string, ran map[string]int, pods []kin) {
	for id, times := range ran {
		if times > 1 {
			i.tally.Repeated.add("%s: the command of call %s ran %d times", dir, id, times)
		}
		for _, k := range pods {
			if r := k.calls[id].outcome(); r.GetRecovery() == poddv1.Recovery_RECOVERY_NO_EFFECT {
				i.tally.ResultsLost.add("%s: the command of call %s ran, and its result is: %s", k.pod, id, r.GetSummary())
			}
		}
	}
}

// outcome is the result of a call; nil for none.
func (s *callState) outcome() *poddv1.ToolResult {
	if s == nil {
		return nil
	}
	return s.result
}

// wrote compares the files that tools made in a workspace with the logs of its pods.
func (i *inspection) wrote(dir string, pods []kin) error {
	if i.restores {
		return nil // The files are not what the calls made.
	}
	if i.replays {
		return i.replayed(dir, pods)
	}
	for _, k := range pods {
		if err := k.writes(dir, i.model.calls, i.mixed); err != nil {
			return err
		}
	}
	return nil
}

// streams compares what the followers of a pod got with its log.
func (i *inspection) streams(p *pod, log []*poddv1.Entry) {
	for _, f := range []*follower{p.raw, p.resuming} {
		ctx, cancel := context.WithTimeout(i.ctx, followTime)
		await(ctx, func() bool { return f.last() >= int64(len(log)) })
		cancel()
		f.compare(log)
		i.tally.Gaps = append(i.tally.Gaps, f.gaps...)
		i.tally.Duplicates = append(i.tally.Duplicates, f.duplicates...)
		i.tally.Other = append(i.tally.Other, f.changed...)
	}
}

// sends compares the next request with the log: the request has each message, call and
// result, except those that a rewind undid or the last summary replaces. The summary goes
// by the last entry that it replaces.
func (c *checker) sends(context *poddv1.GetContextResponse) {
	var want []int64
	for _, seq := range c.live {
		summary := c.log[seq-1].GetCompaction()
		if summary == nil {
			want = append(want, seq)
			continue
		}
		rest := slices.DeleteFunc(want, func(s int64) bool { return s <= summary.GetUpToSeq() })
		want = append([]int64{summary.GetUpToSeq()}, rest...)
	}
	var got []int64
	for _, it := range context.GetItems() {
		got = append(got, it.GetSeq())
	}
	if !slices.Equal(got, want) {
		c.t.Other.add("%s: the next request sends the entries %v and should send %v", c.pod, got, want)
	}
}

// bodies are the next requests of all pods.
func (r *round) bodies() (all map[string][]byte, err error) {
	await(r.ctx, func() bool {
		all, err = r.askBodies()
		return item.KindOf(err) != item.KindUnavailable // The connection is to the previous podd.
	})
	return all, err
}

func (r *round) askBodies() (map[string][]byte, error) {
	list, err := r.client.Pods().ListPods(r.ctx, &poddv1.ListPodsRequest{})
	if err != nil {
		return nil, err
	}
	all := make(map[string][]byte)
	for _, p := range list.GetPods() {
		context, err := r.client.Pods().GetContext(r.ctx, &poddv1.GetContextRequest{Pod: p.GetName()})
		if err != nil {
			return nil, err
		}
		all[p.GetName()] = context.GetRequestBody()
	}
	return all, nil
}

// sameAfterKill checks that the next requests stay the same after a restart of podd.
func (r *round) sameAfterKill() error {
	before, err := r.bodies()
	if err != nil {
		return err
	}
	r.kill()
	if err := r.up(); err != nil {
		return err
	}
	after, err := r.bodies()
	if err != nil {
		return err
	}
	for pod, body := range before {
		if !bytes.Equal(body, after[pod]) {
			r.tally.Other.add("%s: the next request was %s and is %s after a kill", pod, body, after[pod])
		}
	}
	return nil
}
