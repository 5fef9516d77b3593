package files

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/scopefs/git"
	"podd/pkg/store"
	"podd/pkg/wire"
)

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

// Restore takes changes of files back, while the pod runs nothing else. Submits that come
// meanwhile wait. What the conversation says stays.
func (w *Files) Restore(ctx context.Context, idOrName string, b Back) (TakenBack, error) {
	run := &rollback{files: w, back: b}
	err := w.Host.Alone(ctx, idOrName, "take changes back", run.do)
	if err != nil {
		return TakenBack{}, err
	}
	return run.out, nil
}

// Rewind rewinds a pod as [pod.Host.Rewind] does, and takes the agent's changes of files after the
// entry back first.
func (w *Files) Rewind(ctx context.Context, idOrName string, b Back) (pod.Rewound, TakenBack, error) {
	rec, err := w.Host.Store.Pod(ctx, idOrName)
	if err != nil {
		return pod.Rewound{}, TakenBack{}, err
	}
	// A place to which the history cannot go changes no file.
	if err := w.Host.Logs.MayCut(ctx, rec, max(b.After, 1)); err != nil {
		return pod.Rewound{}, TakenBack{}, err
	}
	back, err := w.Restore(ctx, rec.ID, b)
	if err != nil {
		return pod.Rewound{}, back, err
	}
	out, err := w.Host.Rewind(ctx, rec.ID, b.After)
	return out, back, err
}

// unfinished continues a restore that an earlier podd began.
func (w *Files) unfinished(p item.Pod, s fold.State) func(context.Context, *pod.Idle) error {
	open := s.Files.Restoring
	if open.After == 0 || open.Pod != p.ID || w.Stores == nil {
		return nil
	}
	run := &rollback{files: w, back: Back{After: open.After, Skip: true, Merge: open.Merge}, again: true}
	return func(ctx context.Context, p *pod.Idle) error {
		if err := run.do(ctx, p); err != nil {
			p.Raise(item.LevelError, "checkpoint", "a restore of files did not end: "+err.Error()+"; podctl undo takes the rest back")
		}
		return nil
	}
}

// rollback is one restore of files.
type rollback struct {
	files *Files
	back  Back
	out   TakenBack
	// again says that an earlier podd began it.
	again bool
}

func (r *rollback) do(ctx context.Context, p *pod.Idle) error {
	w, rec, files, after := r.files, p.Pod, p.State.Files, r.back.After
	if w.Stores == nil {
		return noFiles(rec.Name)
	}
	if after == 0 {
		if after = files.Since; after == 0 {
			return noFiles(rec.Name)
		}
		r.out.Turn = files.Turn
	}
	r.out.After = after
	line, err := w.checkpoints(ctx, rec, after, nil)
	if err == nil {
		err = w.here(rec.Name, line, "take them back")
	}
	var since time.Time
	if err == nil {
		since, err = w.timeFrom(ctx, rec.ID, after)
	}
	if err != nil {
		return err
	}
	r.out.HeadMoved = git.HeadMoved(rec.Spec.Dir, since)
	if r.again {
		return r.goOn(ctx, p, files, line, nil)
	}
	plan, err := w.plan(ctx, line, r.back.Merge)
	if err != nil {
		return failed(rec, err)
	}
	r.out.Kept = plan.conflicts
	if r.back.Dry {
		r.out.Paths, r.out.Changed, r.out.Merged = plan.paths(), len(plan.paths()), plan.merged()
		return nil
	}
	if len(r.out.Kept) > 0 && !r.back.Skip {
		return conflicted(r.out.Kept)
	}
	if len(plan.paths()) == 0 {
		return nil
	}
	if files, err = r.begin(ctx, p); err != nil {
		return err
	}
	return r.goOn(ctx, p, files, line, plan)
}

// goOn does a restore that began, again while the disk is full; an alert says that it waits. Without a plan it makes one. On
// an error the restore stays open in the log: it goes on when podd starts again.
func (r *rollback) goOn(ctx context.Context, p *pod.Idle, files fold.Files, line []item.Checkpoint, plan *undo) error {
	for told := false; ; told = true {
		err := r.try(ctx, p, files, line, plan)
		if item.ReasonOf(err) != store.ReasonNoSpace {
			return err
		}
		plan = nil // Some of it may be done.
		if !told {
			p.Raise(item.LevelError, "checkpoint", "a restore of files waits for space on the disk, and then goes on: "+err.Error())
		}
		select {
		case <-time.After(spaceEvery):
		case <-ctx.Done():
			return err
		}
	}
}

// spaceEvery is how often a restore on a full disk tries again.
const spaceEvery = 2 * time.Second

// try does what is left of a restore.
func (r *rollback) try(ctx context.Context, p *pod.Idle, files fold.Files, line []item.Checkpoint, plan *undo) (err error) {
	if plan == nil {
		if plan, err = r.files.plan(ctx, line, r.back.Merge); err != nil {
			return failed(p.Pod, err)
		}
	}
	done, err := plan.do(ctx)
	r.out.Changed, r.out.Merged, r.out.Kept = r.out.Changed+done.Changed, append(r.out.Merged, done.Merged...), done.Kept
	if err != nil {
		return failed(p.Pod, err)
	}
	return r.end(ctx, p, files, plan.reaches)
}

// end stores the checkpoints after the restore, and that it ended.
func (r *rollback) end(ctx context.Context, p *pod.Idle, files fold.Files, reaches []string) error {
	taken, err := r.files.restored(ctx, p.Pod, files, reaches)
	if err != nil {
		return failed(p.Pod, Full(err))
	}
	end := item.Restore{After: r.out.After, Pod: p.Pod.ID, Ended: true, Changed: int64(r.out.Changed), Merge: r.back.Merge}
	for _, k := range r.out.Kept {
		end.Kept = append(end.Kept, k.Path)
	}
	_, err = p.Append(ctx, append(kinds(taken), end)...)
	return err
}

// begin stores that the restore begins, with what others changed until now: a file that they
// deleted is not one that the restore deletes. It returns the checkpoints since then.
func (r *rollback) begin(ctx context.Context, p *pod.Idle) (fold.Files, error) {
	others, err := r.files.restored(ctx, p.Pod, p.State.Files, nil)
	if err != nil {
		return p.State.Files, failed(p.Pod, err)
	}
	now, err := p.Append(ctx, append(kinds(others), item.Restore{After: r.out.After, Pod: p.Pod.ID, Merge: r.back.Merge})...)
	return now.Files, err
}

func kinds(taken []item.Checkpoint) (all []item.Kind) {
	for _, t := range taken {
		all = append(all, t)
	}
	return all
}

// restored takes the checkpoints after a restore of some paths.
func (w *Files) restored(ctx context.Context, p item.Pod, at fold.Files, paths []string) (out []item.Checkpoint, err error) {
	s := &Saver{Stores: w.Stores, Pod: p.ID, Dirs: slices.DeleteFunc(Covered(p.Spec), func(dir string) bool { return at.At(dir) == "" })}
	out, err = s.take(ctx, at, Look{Restored: true, Paths: paths, Message: "restore"})
	return out, errors.Join(err, s.Close())
}

// here refuses checkpoints that another node has: a pod that moves leaves them there. then is what to do
// at that node.
func (w *Files) here(name string, line []item.Checkpoint, then string) error {
	for _, k := range line {
		if k.Node != "" && k.Node != w.Host.Node {
			e := item.Errorf(item.KindPrecondition, store.ReasonNodeAway,
				"move pod %s to node %s, which has the checkpoints of these changes, then %s", name, k.Node, then)
			e.Meta = map[string]string{"node": k.Node}
			return e
		}
	}
	return nil
}

// failed is an error about the files of a pod.
func failed(rec item.Pod, err error) error {
	if _, ok := errors.AsType[*item.Error](err); ok {
		return err
	}
	e := item.Errorf(item.KindPrecondition, "FILES", "cannot take back the changes of files of pod %s: %v", rec.Name, err)
	e.Cause = err
	return e
}

// conflicted says which files stop it.
func conflicted(kept []Conflict) error {
	var names []string
	for _, k := range kept[:min(len(kept), maxNamedFiles)] {
		names = append(names, k.Path+" "+k.Why)
	}
	if more := len(kept) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return item.Errorf(item.KindPrecondition, "FILES_CHANGED", "nothing was taken back: %s; --merge merges texts, --skip leaves these files as they are", strings.Join(names, ", "))
}

// timeFrom is when the first entry of a log from this one on was stored; zero without one.
func (w *Files) timeFrom(ctx context.Context, id string, seq item.Seq) (at time.Time, err error) {
	first := func(e item.Entry) bool {
		at = e.Time
		return false
	}
	err = w.Host.Logs.Entries(ctx, id, seq-1, nil, first)
	if item.ReasonOf(err) == store.ReasonPurged {
		err = w.Host.Logs.Entries(ctx, id, 0, nil, first)
	}
	return at, err
}

// checkpoints are those above an entry that only, if it is set, wants, in their order; also ones
// that a rewind undid.
func (w *Files) checkpoints(ctx context.Context, rec item.Pod, after item.Seq, only func(item.Entry) bool) (line []item.Checkpoint, err error) {
	if after > rec.Last {
		return nil, item.Errorf(item.KindOutOfRange, "BEYOND_END", "pod %s has no entry #%d: its last one is #%d", rec.Name, after, rec.Last)
	}
	if after > 0 && after < rec.First-1 {
		return nil, item.Errorf(item.KindOutOfRange, "PURGED", "entry #%d of pod %s was removed: the first remaining entry is #%d", after, rec.Name, rec.First)
	}
	isOne := func(kind wire.KindNumber) bool { return kind == wire.KindCheckpoint }
	err = w.Host.Logs.Entries(ctx, rec.ID, after, isOne, func(e item.Entry) bool {
		if k, ok := e.Kind.(item.Checkpoint); ok && (only == nil || only(e)) {
			line = append(line, k)
		}
		return true
	})
	return line, err
}
