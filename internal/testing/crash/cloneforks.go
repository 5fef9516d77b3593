package crash

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// cloneForks is how many forks a pod in a clone may have.
const cloneForks = 2

// tidyTime is how long a podd that starts may take to remove clones.
const tidyTime = 30 * time.Second

// forkIn says whether a pod is a fork in a clone of another one, or a sub-pod of such a fork.
func (k kin) forkIn(p *pod) bool {
	return k.GetSpec().GetCheckout() == nil && strings.Contains(k.GetSpec().GetDir(), "/checkouts/"+p.name+".")
}

// ofItsPoint checks that the clone of a fork has what the conversation of the fork says that it wrote: its own
// calls, and those of the turns that the other pod had finished.
func (i *inspection) ofItsPoint(k kin) error {
	dir := k.GetSpec().GetDir()
	if _, err := os.Stat(dir); err != nil {
		i.tally.Lost.add("%s: the clone in which the fork works is gone: %v", k.pod, err)
		return nil
	}
	ran, err := countLines(filepath.Join(dir, ranFile))
	if err != nil {
		return err
	}
	has := make(map[string]bool)
	for line := range ran {
		id, _, _ := strings.Cut(line, " ")
		has[id] = true
	}
	for id, s := range k.calls {
		call := i.model.made(id)
		before := s.seq <= k.from && (k.ends[s.turn].GetTurnEnded().GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED || k.mayLack(s))
		if !s.wrote(id, call) || before {
			continue
		}
		i.tally.Pushed++
		_, err := os.Stat(filepath.Join(dir, "made-"+id))
		if !has[id] && err != nil {
			i.tally.Lost.add("%s: the call %s, entry %d of a fork at %d, is not in %s", k.pod, id, s.seq, k.from, dir)
		}
	}
	return nil
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

// remove deletes a pod in a clone, now and then with its clone, and restores it. Its forks work on meanwhile.
func (h *hand) remove(*deed) error {
	if h.pod.remote == nil {
		return errNothing
	}
	if err := h.atRest(); err != nil {
		return err
	}
	if len(h.pod.forks) > 0 {
		h.pod.forks[0].submits.submit(h.ctx, h.job())
	}
	request := &poddv1.DeletePodRequest{Pod: h.pod.name, Checkout: h.random.IntN(2) == 0}
	_, err := h.client.Pods().DeletePod(h.scene.ctx, request)
	pause(h.ctx, time.Duration(h.random.IntN(300))*time.Millisecond)
	// An error may leave it deleted, too.
	if failed := h.restored(h.pod); failed != nil {
		h.pod.submits.complain("it does not come back, which was deleted: %v", failed)
	}
	return err
}

// restored restores a pod, if it is deleted.
func (s *scene) restored(p *pod) (err error) {
	await(s.ctx, func() bool {
		_, err = s.client.Pods().RestorePod(s.ctx, &poddv1.RestorePodRequest{Pod: p.name})
		if item.KindOf(err) == item.KindNotFound {
			_, err = s.client.Pods().GetPod(s.ctx, &poddv1.GetPodRequest{Pod: p.name})
		}
		return err == nil
	})
	return err
}

// tidying is the end of a round: its pods in clones go.
type tidying struct{ *fleet }

// tidied deletes the pods in clones, and then their forks: a clone stays as long as one of them is left, and
// goes once a node starts again and nothing in it is nowhere else.
func (f tidying) tidied() error {
	pods := slices.DeleteFunc(f.all(), func(p *pod) bool { return p.remote == nil })
	last, kept := map[string]bool{}, map[string]bool{}
	for _, p := range pods {
		dir := f.state(p).GetSpec().GetDir()
		if p.isFork {
			kept[dir] = true
			continue
		}
		last[dir] = true
		if err := f.delete(p, false); err != nil {
			return err
		}
	}
	if err := f.again(); err != nil {
		return err
	}
	for dir := range kept {
		if _, err := os.Stat(dir); err != nil {
			f.finding("the clone of a fork went with the pod: %v", err)
		}
	}
	for _, p := range pods {
		if p.isFork {
			if err := f.delete(p, true); err != nil {
				return err
			}
		}
	}
	if err := f.again(); err != nil {
		return err
	}
	for _, p := range pods {
		f.needless(p, last)
	}
	return nil
}

// delete deletes a pod at rest.
func (f tidying) delete(p *pod, now bool) (err error) {
	await(f.ctx, func() bool {
		_, err = f.client.Pods().DeletePod(f.ctx, &poddv1.DeletePodRequest{Pod: p.name, Now: now})
		return item.KindOf(err) != item.KindUnavailable
	})
	return err
}

// again kills each podd, which starts again.
func (f tidying) again() error {
	for _, n := range f.nodes {
		p := n.now()
		p.signal(syscall.SIGKILL)
		<-p.exited
		if !await(f.ctx, func() bool { return n.now() != p }) {
			return f.stuck()
		}
	}
	return f.allUp()
}

// needless checks that no clone of a pod stays, besides the last one and those with what is not pushed.
func (f tidying) needless(p *pod, last map[string]bool) {
	stays := func() string {
		dirs, _ := p.clones()
		for _, dir := range dirs {
			head, err := f.git(dir, "rev-parse", "HEAD")
			if last[dir] || err != nil { // It goes at this moment.
				continue
			}
			status, _ := f.git(dir, "status", "--porcelain")
			_, lacks := f.git(p.remote.repo, "merge-base", "--is-ancestor", strings.TrimSpace(head), "refs/podd/"+p.name)
			if status == "" && lacks == nil {
				return dir
			}
		}
		return ""
	}
	ctx, cancel := context.WithTimeout(f.ctx, tidyTime)
	defer cancel()
	if !await(ctx, func() bool { return stays() == "" }) {
		f.finding("the clone %s stays, though no pod works in it and all is pushed", stays())
	}
}
