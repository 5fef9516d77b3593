package pod

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// Checkouts are repositories that podd makes for pods, each a checkout of a person's. Package
// workspace has them. Their methods may hang.
type Checkouts interface {
	// Make makes the checkout of a pod that is not stored yet. Unless Keep is called it goes again,
	// by Discard or when podd starts.
	Make(ctx context.Context, p item.Pod, w Worktree) (NewCheckout, error)
	// Settle ends what a killed podd began; exists says whether a pod does, in the trash too. says
	// are sentences about what a person has to look at.
	Settle(ctx context.Context, exists func(id string) (bool, error)) (says []string, err error)
	// Land brings the checkout's commits, and what is uncommitted, to a branch of the person's.
	Land(ctx context.Context, c FoundCheckout, into, message string) (Landed, error)
	// Find is the checkout that a directory is in, or that was made for a pod, by its id or its
	// name then; empty without one.
	Find(dir, idOrName string) (FoundCheckout, error)
	// Remove removes a checkout if nothing is in it that is nowhere else, but for drop. Else it says
	// what, a line each. Without c.Dir it is that of the pod c.Pod, an id or a name, in the trash; found
	// says whether there is one.
	Remove(ctx context.Context, c FoundCheckout, drop []string, how Removal) (found bool, left []string, err error)
	// Apply makes the person's files what the checkout's are, path by path, and never overwrites what
	// is not what the pod began with. If there is such a file, it changes nothing unless skip is set;
	// with dry it only looks.
	Apply(ctx context.Context, c FoundCheckout, skip, dry bool) (Applied, error)
	// Return brings the checkout of a pod back from the trash, if it is there.
	Return(ctx context.Context, id string) error
	// Sweep removes for good what was in the trash for its time and still has nothing that is
	// nowhere else.
	Sweep(ctx context.Context) error
}

// Worktree says what a checkout begins with.
type Worktree struct {
	// Base is a branch, a tag or a commit; empty means the commit that is checked out. Changes
	// brings what is not committed.
	Base    string
	Changes bool
}

// Removal is how a checkout is removed.
type Removal int

// A removal only looks what would be lost, moves to the trash, or is for good.
const (
	Looks Removal = iota
	ToTrash
	ForGood
)

// NewCheckout is a checkout whose pod is not stored yet.
type NewCheckout struct {
	// Spec is the pod's, with its directories in the checkout.
	Spec item.PodSpec
	// Keep says that the pod is stored, Discard that it is not.
	Keep    func() error
	Discard func(ctx context.Context) error
}

// FoundCheckout is a checkout that exists.
type FoundCheckout struct {
	// Dir is where it is, Pod the id of the pod that it was made for.
	Dir, Pod string
}

// has says whether a path is the checkout or in it.
func (c FoundCheckout) has(path string) bool { return strings.HasPrefix(path+"/", c.Dir+"/") }

// Worktrees make pods with checkouts of their own, and remove them. The methods may be called from
// any goroutine.
type Worktrees struct{ host *Host }

// Create creates a pod in a checkout of the repository that its directory is in.
func (t *Worktrees) Create(ctx context.Context, name string, spec item.PodSpec, w Worktree) (item.Pod, error) {
	h := t.host
	if h.Checkouts == nil {
		return item.Pod{}, item.Errorf(item.KindUnimplemented, "NO_CHECKOUTS", "this podd makes no checkouts")
	}
	spec, err := asked(h, spec)
	if err != nil {
		return item.Pod{}, err
	}
	p, err := h.newPod(name, spec)
	if err != nil {
		return item.Pod{}, err
	}
	if _, err := h.Store.Pod(ctx, name); err == nil {
		return item.Pod{}, item.Errorf(item.KindExists, store.ReasonPodExists, "pod %q already exists", name)
	}
	made, err := h.Checkouts.Make(ctx, p, w)
	if err != nil {
		return item.Pod{}, err
	}
	p.Spec = made.Spec
	p, err = stored(ctx, h, p)
	if err != nil {
		return item.Pod{}, errors.Join(err, made.Discard(context.WithoutCancel(ctx)))
	}
	if err := made.Keep(); err != nil {
		// It is kept when podd starts: the pod exists.
		h.Logger.Warn("cannot store that a checkout is in use", "pod", p.ID, "error", err)
	}
	return p, nil
}

// settle ends what a killed podd began with checkouts.
func (t *Worktrees) settle(ctx context.Context) {
	h := t.host
	if h.Checkouts == nil {
		return
	}
	says, err := h.Checkouts.Settle(ctx, func(id string) (bool, error) {
		_, err := h.Store.Pod(ctx, id)
		if item.ReasonOf(err) != store.ReasonPodNotFound {
			return err == nil, err
		}
		trashed, err := h.Store.TrashedPods(ctx)
		return slices.ContainsFunc(trashed, func(p store.TrashedPod) bool { return p.ID == id }), err
	})
	for _, text := range says {
		h.Alerts.Raise(item.LevelWarn, "checkout", text)
	}
	if err != nil && ctx.Err() == nil {
		h.Logger.Warn("cannot end what was begun with checkouts; podd tries again when it starts", "error", err)
	}
}

// Stays is where the checkout of a pod stays when the pod is deleted; empty without one.
func (t *Worktrees) Stays(ctx context.Context, idOrName string) string {
	if t.host.Checkouts == nil {
		return ""
	}
	p, err := t.host.Store.Pod(ctx, idOrName)
	if err != nil || p.Spec.Checkout.Source == "" {
		return ""
	}
	found, err := t.host.Checkouts.Find(p.Spec.Dir, "")
	if err != nil {
		return p.Spec.Dir
	}
	return found.Dir
}

// Delete deletes a pod, if it still exists, together with its checkout. It refuses to if that has
// something that is nowhere else, but for drop: then nothing is deleted. now removes both for good,
// also from the trash.
func (t *Worktrees) Delete(ctx context.Context, idOrName string, drop []string, now bool) (purgeAt time.Time, err error) {
	h := t.host
	if h.Checkouts == nil {
		return purgeAt, noCheckout(idOrName, leaveCheckout)
	}
	d, err := t.deletion(ctx, idOrName, now)
	if err != nil {
		return purgeAt, err
	}
	found, err := h.Checkouts.Find(d.rec.Spec.Dir, idOrName)
	if err != nil {
		return purgeAt, err
	}
	if found.Dir == "" {
		return t.deleteTrashed(ctx, d, drop)
	}
	if err := t.unused(ctx, d.rec, found); err != nil {
		return purgeAt, err
	}
	_, left, err := h.Checkouts.Remove(ctx, found, drop, Looks)
	if err == nil && len(left) > 0 {
		err = notSaved(found.Dir, left)
	}
	if err != nil {
		return purgeAt, err
	}
	if purgeAt, err = t.gone(ctx, d); err != nil {
		return purgeAt, err
	}
	// Nothing of the pod runs any more; what it did meanwhile counts. A trash is for what can be restored.
	how := ToTrash
	if purgeAt.IsZero() {
		how = ForGood
	}
	_, left, err = h.Checkouts.Remove(ctx, found, drop, how)
	if err == nil && len(left) > 0 {
		err = notSaved(found.Dir, left)
	}
	if err != nil {
		return purgeAt, fmt.Errorf("the pod is deleted, and its checkout stays: %w", err)
	}
	return purgeAt, nil
}

// deletion is what is deleted with a checkout.
type deletion struct {
	// rec is the pod; without an id it is not stored any more. name is as a person named it.
	rec  item.Pod
	name string
	// until is how long the trash has it; zero if it is not there.
	until time.Time
	now   bool
}

func (t *Worktrees) deletion(ctx context.Context, idOrName string, now bool) (d deletion, err error) {
	d = deletion{name: idOrName, now: now}
	d.rec, err = t.host.Store.Pod(ctx, idOrName)
	if item.ReasonOf(err) != store.ReasonPodNotFound {
		return d, err
	}
	trashed, others, err := t.host.findTrashed(ctx, idOrName)
	switch {
	case item.ReasonOf(err) == store.ReasonPodNotFound:
		return d, nil
	case err == nil && others:
		err = ambiguous(idOrName)
	}
	d.rec, d.until = trashed.Pod, trashed.At.Add(t.host.TrashFor)
	return d, err
}

// deleteTrashed deletes a pod whose checkout is in the trash, or nowhere.
func (t *Worktrees) deleteTrashed(ctx context.Context, d deletion, drop []string) (purgeAt time.Time, err error) {
	isStored := d.rec.ID != "" && d.until.IsZero()
	if d.now && !isStored {
		found, left, err := t.host.Checkouts.Remove(ctx, FoundCheckout{Pod: cmp.Or(d.rec.ID, d.name)}, drop, ForGood)
		switch {
		case err != nil:
			return purgeAt, err
		case len(left) > 0:
			return purgeAt, notSaved("of pod "+d.name, left)
		case found || d.rec.ID != "":
			return t.gone(ctx, d)
		}
	}
	switch {
	case d.rec.ID == "":
		_, err := t.host.Store.Pod(ctx, d.name)
		return purgeAt, err
	case !isStored:
		return purgeAt, item.Errorf(item.KindPrecondition, "IN_TRASH", "pod %s is deleted already, and no checkout of it is left outside of the trash: --now removes both for good", d.rec.Name)
	}
	return purgeAt, noCheckout(d.rec.Name, leaveCheckout)
}

// gone deletes the pod of a deletion, if it is stored.
func (t *Worktrees) gone(ctx context.Context, d deletion) (purgeAt time.Time, err error) {
	switch {
	case d.rec.ID == "":
		return purgeAt, nil
	case !d.until.IsZero() && d.now:
		return purgeAt, t.host.purge(ctx, d.rec.ID)
	case !d.until.IsZero():
		return d.until, nil
	case d.now:
		return purgeAt, t.host.Delete(ctx, d.rec.ID)
	}
	return t.host.Discard(ctx, d.rec.ID)
}

// noCheckout refuses work on a checkout that a pod does not have. remedy is what to do instead.
func noCheckout(name, remedy string) error {
	return item.Errorf(item.KindPrecondition, "NO_CHECKOUT", "pod %s has no checkout of its own: %s", name, remedy)
}

// What to do instead of work on a checkout: of all verbs, and of a delete.
const (
	makeCheckout  = "podctl create --worktree makes a pod with one"
	leaveCheckout = "leave --checkout out"
)

// Landed is what became of a landing.
type Landed struct {
	// Branch is what moved, from Old to New; Dir the working tree that followed, empty for none.
	Branch, Old, New, Dir string
	// Committed says that there was something to commit, Merged that the branch had commits of its
	// own.
	Committed, Merged bool
	// Commits is how many commits of the pod it brought, Subject that of the newest.
	Commits int
	Subject string
	// Says is what a person should know; empty without.
	Says string
}

// Land brings what a pod did in its checkout to a branch of the person's, while the pod does
// nothing else; empty means the branch that is checked out.
func (t *Worktrees) Land(ctx context.Context, idOrName, into, message string) (out Landed, err error) {
	err = t.alone(ctx, idOrName, "land it", func(ctx context.Context, _ *turn, a *actor, found FoundCheckout) (err error) {
		out, err = t.host.Checkouts.Land(ctx, found, into, message)
		if out.Says != "" {
			_ = a.mailbox.do(ctx, func() { a.journal.raise(item.LevelWarn, "checkout", out.Says) })
		}
		return err
	})
	return out, err
}

// Applied is what became of the person's files.
type Applied struct {
	// Dir is the person's working tree. Paths are those that changed, or would; Kept stay.
	Dir   string
	Paths []string
	Kept  []FileConflict
}

// Apply makes the person's files what the pod's are, while the pod does nothing else. Without skip
// it changes nothing if a file is not what the pod began with. With dry it changes nothing.
func (t *Worktrees) Apply(ctx context.Context, idOrName string, skip, dry bool) (out Applied, err error) {
	err = t.alone(ctx, idOrName, "apply it", func(ctx context.Context, _ *turn, a *actor, found FoundCheckout) (err error) {
		out, err = t.host.Checkouts.Apply(ctx, found, skip, dry)
		if err != nil {
			if _, ok := errors.AsType[*item.Error](err); !ok {
				err = item.Errorf(item.KindPrecondition, "FILES", "cannot apply the files of pod %s: %v", a.journal.rec.Name, err)
			}
			return err
		}
		if len(out.Kept) > 0 && !skip && !dry {
			names := make([]string, len(out.Kept))
			for i, k := range out.Kept {
				names[i] = k.Path + " " + k.Why
			}
			return item.Errorf(item.KindPrecondition, "FILES_CHANGED", "nothing was applied: %s; --skip leaves these files as they are", few(names))
		}
		return nil
	})
	return out, err
}

// Checked is the result of a check.
type Checked struct {
	// Passed says that the command ended with status 0. Summary says how it ended, in a line, Output
	// what it printed.
	Passed          bool
	Summary, Output string
	// Seq is the note with the result in the pod's log.
	Seq item.Seq
}

// How long a check may run.
const (
	checkTime = 20 * time.Minute
	mostCheck = time.Hour
)

// mostNoted bounds the output of a check in its note, in bytes: the end of it.
const mostNoted = 4 << 10

// Check runs a command in a pod's checkout as its own commands run, while the pod does nothing else.
// A note with the result joins the conversation at the next turn.
func (t *Worktrees) Check(ctx context.Context, idOrName, command string, seconds int) (out Checked, err error) {
	if seconds == 0 {
		seconds = int(checkTime.Seconds())
	}
	if seconds < 0 || seconds > int(mostCheck.Seconds()) || strings.TrimSpace(command) == "" {
		return out, item.Errorf(item.KindInvalid, "BAD_CHECK", "a check is a command, and may run for 1 to %d seconds", int(mostCheck.Seconds()))
	}
	err = t.alone(ctx, idOrName, "check it", func(_ context.Context, under *turn, a *actor, _ FoundCheckout) error {
		// It ends with the request, with podctl cancel, and when podd stops.
		running, cancel := context.WithCancelCause(under.waiting)
		defer cancel(nil)
		defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
		ground, err := a.site.workspace.Look()
		if err != nil {
			return err
		}
		defer ground.Use()()
		result, err := ground.Check(running, command, seconds)
		if running.Err() != nil {
			return item.Errorf(item.KindPrecondition, "CHECK_CANCELLED", "the check of pod %s was cancelled", idOrName)
		}
		if err != nil {
			return err
		}
		out = Checked{Passed: !result.IsError, Summary: result.Summary, Output: result.Content}
		verdict, outcome := "passed", item.OutcomeFinished
		if !out.Passed {
			verdict, outcome = "failed", item.OutcomeFailed
		}
		end := out.Output[max(len(out.Output)-mostNoted, 0):]
		text := strings.ToValidUTF8(strings.TrimSpace(fmt.Sprintf("The check %q %s (%s).\n%s", command, verdict, out.Summary, end)), "")
		doErr := a.mailbox.do(context.WithoutCancel(ctx), func() {
			out.Seq, err = a.note(a.host.base, item.Note{Text: text, Check: outcome})
		})
		return errors.Join(doErr, err)
	})
	return out, err
}

// siteWork works on the checkout of a pod, under something like a turn.
type siteWork func(ctx context.Context, under *turn, a *actor, found FoundCheckout) error

// alone does work on the checkout of a pod while nothing of the pod runs, nor of others in the
// checkout. Submits that come meanwhile wait. It goes on when ctx ends.
func (t *Worktrees) alone(ctx context.Context, idOrName, then string, work siteWork) error {
	if t.host.Checkouts == nil {
		return noCheckout(idOrName, makeCheckout)
	}
	a, release, err := t.host.pods.acquire(ctx, idOrName)
	if err != nil {
		return err
	}
	defer release()
	if err := a.mailbox.waitForLast(ctx); err != nil {
		return err
	}
	failed := errors.New("podd met a defect of its own")
	var ended <-chan struct{}
	doErr := a.mailbox.do(ctx, func() {
		if err = free(a, then); err != nil {
			return
		}
		rec := a.journal.rec
		a.start(0, func(ctx context.Context, under *turn) error {
			failed = t.workIn(ctx, under, a, rec, work)
			return nil
		})
		ended = a.turns.now.ended
	})
	if doErr != nil || err != nil {
		return errors.Join(doErr, err)
	}
	select {
	case <-ended:
		return failed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// workIn does work on the checkout that a pod works in.
func (t *Worktrees) workIn(ctx context.Context, under *turn, a *actor, rec item.Pod, work siteWork) error {
	found, err := t.host.Checkouts.Find(rec.Spec.Dir, "")
	if err != nil {
		return err
	}
	if found.Dir == "" {
		return noCheckout(rec.Name, makeCheckout)
	}
	pods, err := t.host.Store.Pods(ctx)
	if err != nil {
		return err
	}
	for _, p := range pods {
		if p = t.host.pods.asShown(p); p.ID != rec.ID && atWork(p) && slices.ContainsFunc(p.Spec.Writable(), found.has) {
			return item.Errorf(item.KindPrecondition, "BUSY", "pod %s is at work in the checkout %s too: wait for its end or cancel it", p.Name, found.Dir)
		}
	}
	return work(ctx, under, a, found)
}

// atWork says whether a pod has a turn that runs, or a background command.
func atWork(p item.Pod) bool {
	return p.Status.State == item.StateRunning || p.Status.State == item.StateWaiting || p.Status.State == item.StateResuming || p.Status.Jobs > 0
}

// unused refuses the removal of a checkout in which something runs, or another pod works, or will once it is
// restored.
func (t *Worktrees) unused(ctx context.Context, rec item.Pod, c FoundCheckout) error {
	pods, err := t.host.Store.Pods(ctx)
	if err != nil {
		return err
	}
	trashed, err := t.host.Store.TrashedPods(ctx)
	if err != nil {
		return err
	}
	every := slices.Clone(pods)
	for _, p := range trashed {
		every = append(every, p.Pod)
	}
	ours, back := descent(every, rec.ID), descent(every, c.Pod)
	for _, p := range trashed {
		// The pod that it was made for gets it back.
		if !ours[p.ID] && !back[p.ID] && slices.ContainsFunc(p.Spec.Readable(), c.has) {
			return item.Errorf(item.KindPrecondition, "CHECKOUT_IN_USE",
				"the deleted pod %s works in the checkout %s too, once it is restored: remove it for good with podctl delete %s --now", p.Name, c.Dir, p.ID)
		}
	}
	for _, p := range pods {
		p = t.host.pods.asShown(p)
		switch {
		case !ours[p.ID]:
			if slices.ContainsFunc(p.Spec.Readable(), c.has) {
				return item.Errorf(item.KindPrecondition, "CHECKOUT_IN_USE", "pod %s works in the checkout %s too: delete that pod first", p.Name, c.Dir)
			}
		case atWork(p) || p.Queued > 0:
			return item.Errorf(item.KindPrecondition, "BUSY", "pod %s is at work in its checkout: wait for its end, or end it with podctl cancel and podctl jobs", p.Name)
		}
	}
	return nil
}

// descent are a pod and those that it spawned, and so on; none without an id.
func descent(pods []item.Pod, id string) map[string]bool {
	all := map[string]bool{}
	if id == "" {
		return all
	}
	all[id] = true
	for more := true; more; {
		more = false
		for _, p := range pods {
			if all[p.Spec.Parent] && !all[p.ID] {
				all[p.ID], more = true, true
			}
		}
	}
	return all
}

// notSaved says what a removal would lose.
func notSaved(checkout string, left []string) error {
	return item.Errorf(item.KindPrecondition, "CHECKOUT_NOT_SAVED", "the checkout %s has what is nowhere else: %s; commit it, land it, or name what may go with --drop", checkout, few(left))
}

// few lists some names, and how many more there are.
func few(names []string) string {
	text := strings.Join(names[:min(len(names), maxNamedFiles)], ", ")
	if more := len(names) - maxNamedFiles; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
