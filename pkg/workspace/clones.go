package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"podd/internal/workspace/checkout"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// clone makes the clone of a new pod.
func (c *Checkouts) clone(ctx context.Context, p item.Pod, w pod.Worktree) (pod.NewCheckout, error) {
	if err := refuses(c.node, c.movable); err != nil {
		return pod.NewCheckout{}, err
	}
	of := checkout.Remote{Name: p.Name, ID: p.ID, URL: w.URL, Ref: w.Base}
	of.Dir = c.pushes.all.Place(of, 1)
	r, err := c.pushes.all.Clone(ctx, of)
	if err != nil {
		return pod.NewCheckout{}, err
	}
	spec := p.Spec
	spec.Dir = r.Dir()
	spec.Checkout = item.Checkout{Source: w.URL, Branch: r.Branch(), Base: r.Base, Clone: r.Dir(), Node: c.node}
	return pod.NewCheckout{
		Spec: spec, Keep: func() error { return c.all.Keep(r) }, Discard: func(ctx context.Context) error { return c.all.Discard(ctx, r) },
	}, nil
}

// refuses says why a node makes no clones.
func refuses(node string, movable func(item.PodSpec) bool) error {
	const anywhere = "/clone"
	if node == "" || movable != nil && movable(item.PodSpec{Dir: anywhere, Checkout: item.Checkout{Clone: anywhere}}) {
		return nil
	}
	return item.Errorf(item.KindPrecondition, "NODE_GIT", "node %s makes no clones: set git = true in [node] of its configuration and restart podd, or use another node", node)
}

// clones are those of the workspaces.
type clones struct{ all *Workspaces }

// Clones are those of the workspaces; nil if they have none.
func (all *Workspaces) Clones() pod.Clones {
	if all.checkouts == nil {
		return nil
	}
	return clones{all}
}

// Refuses says why this podd makes no clones; see [pod.Clones].
func (c clones) Refuses() error { return refuses(c.all.Node, c.all.Movable) }

// Placed is where this podd has a clone, or will have it; see [pod.Clones].
func (c clones) Placed(of item.Checkout, id string) item.Checkout {
	w := remoteOf(of, id)
	ours := of.Node == c.all.Node
	if !ours && (of.Node == "" || c.all.Node == "") {
		// It was made before this podd was a node, or while it was one.
		_, err := os.Lstat(of.Clone)
		ours = err == nil
	}
	n := numberOf(of.Clone)
	if ours && of.Clone == c.all.pushes.all.Place(w, n) {
		of.Node = c.all.Node
		return of
	}
	of.Clone, of.Node = c.all.pushes.all.Place(w, n+1), c.all.Node
	return of
}

func remoteOf(of item.Checkout, id string) checkout.Remote {
	return checkout.Remote{Name: filepath.Base(of.Branch), ID: id, URL: of.Source, Dir: of.Clone}
}

// numberOf is the number in the place of a clone.
func numberOf(clone string) int {
	place := filepath.Dir(clone)
	n, _ := strconv.Atoi(place[strings.LastIndexByte(place, '.')+1:])
	return n
}

// enter makes the clone that a pod works in, if it is not here yet.
func (all *Workspaces) enter(id string, spec item.PodSpec, above []item.Pod) error {
	if !spec.Checkout.IsClone() || all.checkouts == nil {
		return nil
	}
	if r, err := all.checkouts.Of(spec.Checkout.Clone); err != nil || r != nil && r.Made {
		return err
	}
	if len(above) > 0 {
		id = above[len(above)-1].ID
	}
	_, err := all.pushes.all.Resume(all.pushes.base, remoteOf(spec.Checkout, id))
	return err
}

// Began is the first commit of the clone that the pod works in.
func (g *ground) Began() string {
	spec := g.dir.spec
	if !spec.Checkout.IsClone() || g.workspace.all.checkouts == nil {
		return ""
	}
	r, err := g.workspace.all.checkouts.Of(spec.Checkout.Clone)
	if err != nil || r == nil {
		return ""
	}
	return cmp.Or(r.Claim, r.Base)
}

// pushes send what pods did in clones to its source, in the background, until that has it.
type pushes struct {
	all   checkout.Clones
	alert func(text string)
	base  context.Context
	stop  context.CancelFunc
	work  sync.WaitGroup

	mu sync.Mutex
	// running are the clones with a push, by their directories, and what is closed when it first
	// ends.
	running map[string]*push
}

// push is the push of one clone.
type push struct {
	// tried is closed once the first try has ended; again says that there is more to push.
	tried chan struct{}
	again bool
}

func newPushes(all checkout.Clones, c Config) *pushes {
	base, stop := context.WithCancel(context.Background()) //nolint:forbidigo // close ends it
	alert := c.Alert
	if alert == nil {
		alert = func(text string) { c.Logger.Warn("about a checkout", "alert", text) }
	}
	return &pushes{all: all, alert: alert, base: base, stop: stop, running: make(map[string]*push)}
}

// close ends the pushes. The next podd goes on with them.
func (p *pushes) close() {
	p.stop()
	p.work.Wait()
}

// resume goes on with those of an earlier podd.
func (p *pushes) resume() error {
	all, err := p.all.All()
	for _, r := range all {
		if r.Made && !r.IsPushed() {
			p.start(r)
		}
	}
	return err
}

// tidy removes clones that are not needed, and whose sources have all that is in them.
func (p *pushes) tidy(ctx context.Context, needs func(pod.FoundCheckout) pod.Need) error {
	all, err := p.all.All()
	for _, r := range all {
		need := needs(pod.FoundCheckout{Dir: r.Dir(), Pod: r.Pod})
		if !r.Made || need == pod.NeedPod || need == pod.NeedIfLast && !p.all.WentOn(ctx, r) {
			continue
		}
		_, e := p.all.Unneeded(ctx, r)
		err = errors.Join(err, e)
	}
	return err
}

// pushPatience is how long a turn that ends waits for its push, which then goes on.
const pushPatience = 5 * time.Second

// leave pushes the state of a clone.
func (p *pushes) leave(ctx context.Context, r *checkout.Record) string {
	left, err := p.all.Save(ctx, r)
	if err != nil {
		return "the files in the clone " + r.Dir() + " cannot be saved for " + r.URL + ": " + err.Error() + "; podd tries again at the end of the next turn"
	}
	patience := time.NewTimer(pushPatience)
	defer patience.Stop()
	select {
	case <-p.start(r):
	case <-patience.C:
	case <-ctx.Done():
	}
	if len(left) > 0 {
		more := ""
		if len(left) > 1 {
			more = fmt.Sprintf(", and %d more", len(left)-1)
		}
		return fmt.Sprintf("not pushed to %s, because it is too large or a repository of its own: %s%s", r.URL, left[0], more)
	}
	return ""
}

// start pushes what a clone has; tried is closed after the first try.
func (p *pushes) start(r *checkout.Record) (tried <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.running[r.Dir()]; now != nil {
		now.again = true
		return now.tried
	}
	now := &push{tried: make(chan struct{})}
	p.running[r.Dir()] = now
	p.work.Go(func() { p.run(r, now) })
	return now.tried
}

// How long podd waits before it pushes again: longer each time.
const (
	pushFirst = 2 * time.Second
	pushMost  = 5 * time.Minute
)

// run pushes until the source has all. It tells a person of the first failure.
func (p *pushes) run(r *checkout.Record, now *push) {
	tried := sync.OnceFunc(func() { close(now.tried) })
	defer tried()
	told := false
	for wait := pushFirst; ; wait = min(2*wait, pushMost) {
		err := p.all.Push(p.base, r)
		p.mu.Lock()
		moved, isMoved := errors.AsType[*checkout.Moved](err)
		over := err == nil && !now.again || isMoved || errors.Is(err, os.ErrNotExist) || p.base.Err() != nil
		if over {
			delete(p.running, r.Dir())
		}
		now.again = false
		p.mu.Unlock()
		if over {
			if isMoved {
				p.alert(fmt.Sprintf("the work of pod %s is not pushed to %s, because %v: it is in %s", r.Name, r.URL, moved, r.Dir()))
			}
			return
		}
		if err != nil && !told {
			told = true
			p.alert(fmt.Sprintf("the work of pod %s is not pushed to %s (%v): it is in %s, and podd tries again", r.Name, r.URL, err, r.Dir()))
		}
		tried()
		if err == nil {
			wait = pushFirst / 2
			continue
		}
		select {
		case <-time.After(wait):
		case <-p.base.Done():
		}
	}
}
