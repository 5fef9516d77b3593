package pod

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"podd/internal/wire"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// Rollback takes back what pods changed in files.
type Rollback struct{ host *Host }

// Back says which changes of files to take back.
type Back struct {
	// After is the entry after which the changes are; 0 means those of the last turn that
	// changed files, or of the last restore.
	After item.Seq
	// Skip leaves files as they are that somebody changed since; else nothing is changed.
	Skip bool
	// Merge merges texts that somebody changed in other lines since.
	Merge bool
	// Dry changes nothing.
	Dry bool
}

// TakenBack is what became of files.
type TakenBack struct {
	// After is the entry after which changes were taken back, Turn their only turn; 0 if they
	// are of several, or of a restore.
	After item.Seq
	Turn  int64
	// Paths are those that would change; of a dry run.
	Paths []string
	// HeadMoved says that HEAD moved since the changes. It stays.
	HeadMoved bool
	Undone
}

// maxNamedFiles is how many paths an error names.
const maxNamedFiles = 20

// Files takes changes of files back, while the pod runs nothing else. Submits that come
// meanwhile wait. What the conversation says stays.
func (r *Rollback) Files(ctx context.Context, idOrName string, b Back) (TakenBack, error) {
	a, release, err := r.host.pods.acquire(ctx, idOrName)
	if err != nil {
		return TakenBack{}, err
	}
	defer release()
	if err := a.mailbox.waitForLast(ctx); err != nil {
		return TakenBack{}, err
	}
	run := &rollback{a: a, back: b, err: errors.New("podd met a defect of its own")}
	doErr := a.mailbox.do(ctx, func() { err = run.start() })
	if doErr != nil || err != nil {
		return TakenBack{}, errors.Join(doErr, err)
	}
	select {
	case <-run.ended:
		return run.out, run.err
	case <-ctx.Done():
		// It continues: a client that is gone does not cancel.
		return TakenBack{}, context.Cause(ctx)
	}
}

// Rewind rewinds a pod as [Host.Rewind] does, and takes the agent's changes of files after the
// entry back first.
func (r *Rollback) Rewind(ctx context.Context, idOrName string, b Back) (Rewound, TakenBack, error) {
	rec, err := r.host.Store.Pod(ctx, idOrName)
	if err != nil {
		return Rewound{}, TakenBack{}, err
	}
	// A place to which the history cannot go changes no file.
	if _, err := r.host.Logs.cutAt(ctx, rec, max(b.After, 1)); err != nil {
		return Rewound{}, TakenBack{}, err
	}
	back, err := r.Files(ctx, rec.ID, b)
	if err != nil {
		return Rewound{}, back, err
	}
	out, err := r.host.Rewind(ctx, rec.ID, b.After)
	return out, back, err
}

// rollback is one restore of files.
type rollback struct {
	a     *actor
	back  Back
	out   TakenBack
	err   error
	ended <-chan struct{}
	// again says that an earlier podd began it.
	again bool
}

// start begins, in the pod's goroutine.
func (r *rollback) start() error {
	a := r.a
	if a.closing == nil && a.host.Files == nil {
		return noFiles(a.journal.rec.Name)
	}
	if err := free(a, "take changes back"); err != nil {
		return err
	}
	files, rec := a.journal.state.Files, a.journal.rec
	a.start(0, func(ctx context.Context, _ *turn) error {
		r.err = r.run(ctx, rec, files)
		if r.err != nil && r.again {
			text := "a restore of files did not end: " + r.err.Error() + "; podctl undo takes the rest back"
			_ = a.mailbox.do(context.WithoutCancel(ctx), func() { a.journal.raise(item.LevelError, "checkpoint", text) })
		}
		return nil
	})
	r.ended = a.turns.now.ended
	return nil
}

// free refuses work on a pod's files while something of the pod may change them. then is what to
// do later. It is called in the pod's goroutine.
func free(a *actor, then string) error {
	name := a.journal.rec.Name
	switch {
	case a.closing != nil:
		return a.closing
	case a.turns.now != nil && !a.journal.state.Turn.Open:
		return item.Errorf(item.KindPrecondition, "BUSY", "pod %s is compacting, or podd is at work on its files: wait for the end of that, then %s", name, then)
	case a.journal.state.Turn.Open:
		return item.Errorf(item.KindPrecondition, "BUSY", "pod %s is running a turn: wait for its end or cancel it, then %s", name, then)
	case len(a.journal.state.Jobs.Running()) > 0:
		return item.Errorf(item.KindPrecondition, "BUSY", "pod %s has a running background command: wait for its end or stop it with podctl jobs, then %s", name, then)
	}
	return nil
}

func (r *rollback) run(ctx context.Context, rec item.Pod, files fold.Files) error {
	host, after := r.a.host, r.back.After
	if after == 0 {
		if after = files.Since; after == 0 {
			return noFiles(rec.Name)
		}
		r.out.Turn = files.Turn
	}
	r.out.After = after
	line, err := host.Logs.checkpoints(ctx, rec, after, nil)
	if err == nil {
		err = host.Rollback.here(rec.Name, line, "take them back")
	}
	var since time.Time
	if err == nil {
		since, err = host.Logs.timeFrom(ctx, rec.ID, after)
	}
	if err != nil {
		return err
	}
	r.out.HeadMoved = host.Files.HeadMoved(rec.Spec.Dir, since)
	plan, err := host.Files.Undo(ctx, line, r.back.Merge)
	if err != nil {
		return filesError(rec, err)
	}
	r.out.Kept = plan.Conflicts()
	if r.back.Dry {
		r.out.Paths, r.out.Changed, r.out.Merged = plan.Paths(), len(plan.Paths()), plan.Merged()
		return nil
	}
	if len(r.out.Kept) > 0 && !r.back.Skip && !r.again {
		return conflicted(r.out.Kept)
	}
	log := &turnLog{r.a, 0}
	if !r.again {
		if len(plan.Paths()) == 0 {
			return nil
		}
		if files, err = r.begin(ctx, log, rec, files); err != nil {
			return err
		}
	}
	if r.out.Undone, err = plan.Do(ctx); err != nil {
		// The restore stays open in the log: it goes on when podd starts again.
		return filesError(rec, err)
	}
	taken, err := host.Files.Restored(ctx, rec, files, plan.Reaches())
	if err != nil {
		return filesError(rec, err)
	}
	end := item.Restore{After: after, Pod: rec.ID, Ended: true, Changed: int64(r.out.Changed), Merge: r.back.Merge}
	for _, k := range r.out.Kept {
		end.Kept = append(end.Kept, k.Path)
	}
	_, err = log.Append(ctx, restoreBatch(taken, end))
	return err
}

// begin stores that the restore begins, with what others changed until now: a file that they
// deleted is not one that the restore deletes. It returns the checkpoints since then.
func (r *rollback) begin(ctx context.Context, log *turnLog, rec item.Pod, files fold.Files) (fold.Files, error) {
	others, err := r.a.host.Files.Restored(ctx, rec, files, nil)
	if err != nil {
		return files, filesError(rec, err)
	}
	if _, err := log.Append(ctx, restoreBatch(others, item.Restore{After: r.out.After, Pod: rec.ID, Merge: r.back.Merge})); err != nil {
		return files, err
	}
	err = r.a.mailbox.do(ctx, func() { files = r.a.journal.state.Files })
	return files, err
}

func restoreBatch(taken []item.Checkpoint, k item.Restore) (b worker.Batch) {
	for _, t := range taken {
		b.Kinds = append(b.Kinds, t)
	}
	b.Kinds = append(b.Kinds, k)
	return b
}

// here refuses checkpoints that another node has: a pod that moves leaves them there. then is what to do
// at that node.
func (r *Rollback) here(name string, line []item.Checkpoint, then string) error {
	for _, k := range line {
		if k.Node != "" && k.Node != r.host.Node {
			e := item.Errorf(item.KindPrecondition, store.ReasonNodeAway,
				"move pod %s to node %s, which has the checkpoints of these changes, then %s", name, k.Node, then)
			e.Meta = map[string]string{"node": k.Node}
			return e
		}
	}
	return nil
}

// filesError is an error about the files of a pod.
func filesError(rec item.Pod, err error) error {
	if _, ok := errors.AsType[*item.Error](err); ok {
		return err
	}
	e := item.Errorf(item.KindPrecondition, "FILES", "cannot take back the changes of files of pod %s: %v", rec.Name, err)
	e.Cause = err
	return e
}

// conflicted says which files stop it.
func conflicted(kept []FileConflict) error {
	var names []string
	for _, k := range kept[:min(len(kept), maxNamedFiles)] {
		names = append(names, k.Path+" "+k.Why)
	}
	if more := len(kept) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return item.Errorf(item.KindPrecondition, "FILES_CHANGED", "nothing was taken back: %s; --merge merges texts, --skip leaves these files as they are", strings.Join(names, ", "))
}

// Shown says which changes of files are shown.
type Shown struct {
	// Turn is the turn; 0 means what Files would take back, After all changes after an entry.
	Turn  int64
	After item.Seq
	// Paths restricts the changes to these files and directories; absolute, or relative to the
	// pod's directory.
	Paths []string
}

// Diff passes changes of files to fn. It needs no lock on the pod, which may run.
func (r *Rollback) Diff(ctx context.Context, idOrName string, s Shown, fn func(FileChange) error) error {
	rec, err := r.host.Store.Pod(ctx, idOrName)
	if err != nil {
		return err
	}
	if r.host.Files == nil {
		return noFiles(rec.Name)
	}
	after := s.After
	switch {
	case s.Turn > rec.Status.Turn:
		return noTurn(rec, s.Turn)
	case s.Turn > 0:
		after = 0
	case after == 0:
		f, _, err := r.host.Logs.folded(ctx, rec.ID, r.host.settings())
		if err != nil {
			return err
		}
		if after = f.State.Files.Since; after == 0 {
			return noFiles(rec.Name)
		}
	}
	line, err := r.host.Logs.checkpoints(ctx, rec, after, func(e item.Entry) bool { return s.Turn == 0 || e.Turn == s.Turn })
	if err == nil {
		err = r.here(rec.Name, line, "look at them")
	}
	if err != nil {
		return err
	}
	return r.changes(ctx, rec, s, line, fn)
}

// changes passes the wanted changes of files to fn.
func (r *Rollback) changes(ctx context.Context, rec item.Pod, s Shown, line []item.Checkpoint, fn func(FileChange) error) error {
	wanted := make([]string, len(s.Paths))
	for i, p := range s.Paths {
		wanted[i] = p
		if !filepath.IsAbs(p) {
			wanted[i] = filepath.Join(rec.Spec.Dir, p)
		}
	}
	err := r.host.Files.Changes(ctx, line, func(c FileChange) error {
		if len(wanted) > 0 && !slices.ContainsFunc(wanted, func(p string) bool { return c.Path == p || strings.HasPrefix(c.Path, strings.TrimSuffix(p, "/")+"/") }) {
			return nil
		}
		return fn(c)
	})
	if err != nil && ctx.Err() == nil {
		return filesError(rec, err)
	}
	return err
}

// ToolsOnly are the directories of a pod whose last checkpoint covers only the files that tools
// named.
func (r *Rollback) ToolsOnly(ctx context.Context, rec item.Pod) (dirs []string, err error) {
	f, _, err := r.host.Logs.folded(ctx, rec.ID, r.host.settings())
	if err != nil {
		return nil, err
	}
	for _, k := range f.State.Files.Last {
		if k.Partial {
			dirs = append(dirs, k.Dir)
		}
	}
	return dirs, nil
}

// LeftOut names paths of a pod that no checkpoint has.
func (r *Rollback) LeftOut(ctx context.Context, idOrName string) ([]string, error) {
	rec, err := r.host.Store.Pod(ctx, idOrName)
	if err != nil || r.host.Files == nil {
		return nil, err
	}
	paths, err := r.host.Files.LeftOut(ctx, rec.Spec)
	if err != nil {
		return nil, filesError(rec, err)
	}
	return paths, nil
}

// goOn continues a restore that an earlier podd began; in the pod's goroutine. It says whether
// there is one.
func (r *Rollback) goOn(a *actor) bool {
	open := a.journal.state.Files.Restoring
	if open.After == 0 || open.Pod != a.id || a.host.Files == nil || a.turns.restored {
		return false
	}
	a.turns.restored = true
	run := &rollback{a: a, back: Back{After: open.After, Skip: true, Merge: open.Merge}, again: true}
	return run.start() == nil
}

// timeFrom is when the first entry of a log from this one on was stored; zero without one.
func (l *Logs) timeFrom(ctx context.Context, pod string, seq item.Seq) (time.Time, error) {
	for e, err := range l.reader(ctx, pod)(seq-1, fold.All) {
		return e.Time, err
	}
	return time.Time{}, nil
}

// checkpoints are those above an entry that only, if it is set, wants, in their order; also ones
// that a rewind undid.
func (l *Logs) checkpoints(ctx context.Context, rec item.Pod, after item.Seq, only func(item.Entry) bool) (line []item.Checkpoint, err error) {
	if after > rec.Last {
		return nil, item.Errorf(item.KindOutOfRange, "BEYOND_END", "pod %s has no entry #%d: its last one is #%d", rec.Name, after, rec.Last)
	}
	if after > 0 && after < rec.First-1 {
		return nil, item.Errorf(item.KindOutOfRange, "PURGED", "entry #%d of pod %s was removed: the first remaining entry is #%d", after, rec.Name, rec.First)
	}
	err = l.readRecords(ctx, rec.ID, after, func(seq item.Seq, body []byte) error {
		if wire.KindOf(body) != wire.KindCheckpoint {
			return context.Cause(ctx)
		}
		e, err := wire.DecodeEntry(body)
		if err != nil {
			return damaged(rec.ID, seq, err)
		}
		if k, ok := e.Kind.(item.Checkpoint); ok && (only == nil || only(e)) {
			line = append(line, k)
		}
		return nil
	})
	return line, err
}
