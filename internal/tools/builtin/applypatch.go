package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

type patchArgs struct {
	Input string `json:"input"`
}

func newApplyPatch(f *files) tool.Tool {
	return tool.New("apply_patch", patchDescription, f.patch, tool.Touches(f.patchAccess), tool.Previews(f.previewPatch),
		tool.Plans(f.planPatchCall), recovers[patchArgs](f, "apply_patch"))
}

// patchDescription shows the format; models know it.
const patchDescription = `Change several files, all or none. "Move to" is optional; @@ may name a line before the change.
*** Begin Patch
*** Update File: a.go
*** Move to: b.go
@@ func f() {
 kept
-removed
+added
*** Add File: c.go
+text
*** Delete File: d.go
*** End Patch`

func (f *files) patch(ctx context.Context, call *tool.Invocation, args patchArgs) (tool.Output, error) {
	changes, err := f.patchChanges(args)
	if err != nil {
		return failed(ctx, "apply_patch", err)
	}
	ctx, f = granted(ctx, call), f.bound(call)
	f.changing.Lock()
	defer f.changing.Unlock()
	plan, err := f.planPatch(changes)
	if err == nil {
		err = plan.commit(ctx)
	}
	if err != nil {
		return failed(ctx, "apply_patch", err)
	}
	return plan.output(), nil
}

func (f *files) previewPatch(ctx context.Context, call *tool.Invocation, args patchArgs) (tool.Preview, error) {
	changes, err := f.patchChanges(args)
	if err != nil {
		return fails(ctx, "apply_patch", err)
	}
	f = f.bound(call)
	f.changing.Lock()
	defer f.changing.Unlock()
	plan, err := f.planPatch(changes)
	if err != nil {
		return fails(ctx, "apply_patch", err)
	}
	return tool.Preview{Files: plan.previews()}, nil
}

// patchChanges are those of a patch, with the paths of files that are there already.
func (f *files) patchChanges(args patchArgs) ([]fileChange, error) {
	changes, err := parsePatch(args.Input)
	if err != nil {
		return nil, err
	}
	for i, c := range changes {
		made := func(other fileChange) bool {
			return other.path == c.path && other.verb == "add" || other.moveTo == c.path
		}
		if c.verb == "add" || slices.ContainsFunc(changes[:i], made) {
			continue
		}
		if changes[i].path, err = f.Alike(c.path); err != nil {
			return changes, fmt.Errorf("nothing was changed: %w", err)
		}
	}
	return changes, nil
}

func (f *files) planPatch(changes []fileChange) (*patchPlan, error) {
	plan := &patchPlan{files: f, texts: make(map[string]*plannedText), moves: make(map[string]string)}
	for _, c := range changes {
		if err := plan.add(c); err != nil {
			return nil, fmt.Errorf("nothing was changed: %s: %w", f.show(c.path), err)
		}
	}
	return plan, nil
}

// patchPlan is the result of a patch, computed in memory before the first write.
type patchPlan struct {
	*files
	// texts is the planned content of the files so far, by the names to which their paths lead, and by
	// the own names of links that the patch removes or moves.
	texts map[string]*plannedText
	// found are the files as they are on the disk, in the order of the patch.
	found []foundText
	// moves are the new names of what was moved, by the old ones.
	moves map[string]string
	// writes change files that are on the disk, before the steps: where these are then.
	writes []*patchWrite
	steps  []*patchStep
}

// foundText is the text of a file on the disk. path is the first path by which the patch names it, as
// it is shown; entry and key are the names of what has the path, and of the file.
type foundText struct {
	path, entry, key string
	// info is nil without a file.
	info os.FileInfo
	plannedText
}

// plannedText is the text of a file in the plan; absent says that the file does not
// exist.
type plannedText struct {
	text   string
	absent bool
	// entry is the name of the path itself, which may be a link. gone says that the patch removed or
	// moved what has it on the disk.
	entry string
	gone  bool
	// from is a path of the file on the disk; empty without one. write makes its text; nil while
	// nothing changed it.
	from  string
	write *patchWrite
}

func planned(text string) plannedText { return plannedText{text: text} }

// patchWrite is the new text of a file.
type patchWrite struct {
	path, text string
	// fresh says that the path is free when the file is made, whatever has it before.
	fresh bool
	// needless says that the file goes anyway.
	needless bool
	// step gets what there is to say.
	step *patchStep
}

// patchStep is one change of the patch. do prepares what it needs besides the writes; nil for nothing.
type patchStep struct {
	path, note string
	diff       item.FileDiff
	do         func(context.Context, *scopefs.Batch) error
}

// text is the planned text of a path, read from the disk the first time. takes says that the change
// takes the path away: then other paths of the file in the patch are not clear, unless the path is a
// link, which goes alone.
func (p *patchPlan) text(path string, takes bool) (*plannedText, error) {
	entry, key, err := p.Names(path)
	if err != nil {
		return nil, err
	}
	t := p.texts[entry]
	if t == nil {
		t = p.texts[key]
	}
	if t == nil {
		t, err = p.read(path, entry, key)
	}
	takes = takes && entry == key
	switch {
	case err != nil:
		return nil, err
	case t.entry != entry && (takes || t.gone):
		return nil, errors.New("it is a link to a file that the patch also changes by another path: use one path for it, or two calls")
	}
	t.gone = t.gone || takes
	return t, nil
}

// take says that nothing has the path any more. A link goes alone.
func (p *patchPlan) take(path string, now *plannedText) (entry string, err error) {
	entry, key, err := p.Names(path)
	gone := &plannedText{absent: true, entry: entry, gone: true}
	switch {
	case now.gone:
		*now = *gone
	case now.entry == entry:
		now.entry = key
		fallthrough
	default:
		p.texts[entry] = gone
	}
	return entry, err
}

// read reads a file that the plan does not know by this name.
func (p *patchPlan) read(path, entry, key string) (*plannedText, error) {
	info, err := p.Stat(path)
	if err == nil {
		for _, f := range p.found {
			switch {
			case f.info == nil || !os.SameFile(f.info, info):
			case scopefs.HardLinks(info) > 1:
				return nil, fmt.Errorf("it is one file with %s (hard links), which the patch also changes: change it by one of its names", scopefs.Display(f.path))
			default:
				// The file system takes the two names for one.
				p.texts[key] = p.texts[f.key]
				return p.texts[key], nil
			}
		}
	}
	data, err := p.load(path)
	if err != nil && !isKind(err, scopefs.NotFound) {
		return nil, err
	}
	t := &plannedText{text: string(data), absent: err != nil, entry: entry}
	if !t.absent {
		t.from = path
		if err := p.unchanged(path, data); err != nil {
			return nil, err
		}
	}
	p.texts[key] = t
	p.found = append(p.found, foundText{p.Rel(path), entry, key, info, *t})
	return t, nil
}

func (p *patchPlan) add(c fileChange) error {
	now, err := p.text(c.path, c.verb == "delete")
	if err != nil {
		return err
	}
	if c.verb == "add" {
		if !now.absent {
			return errors.New("the file exists: use *** Update File, or *** Delete File before it")
		}
		p.create(c, now)
		return nil
	}
	if now.absent {
		return fmt.Errorf("the file to %s does not exist: check the path, or use *** Add File", c.verb)
	}
	if c.verb == "delete" {
		return p.remove(c.path, now)
	}
	return p.update(c, now)
}

func (p *patchPlan) update(c fileChange, now *plannedText) error {
	after, added, removed, err := applyHunks(now.text, c.hunks)
	if err != nil {
		return err
	}
	if err := p.keepsSecrets(c.path, now.text, after); err != nil {
		return err
	}
	before := now.text
	step := &patchStep{path: c.path, note: fmt.Sprintf("M %s +%d -%d", p.show(c.path), added, removed)}
	if c.moveTo != "" {
		to, _, err := p.Names(c.moveTo)
		if err != nil {
			return err
		}
		if to != now.entry {
			step.note = fmt.Sprintf("R %s -> %s +%d -%d", p.show(c.path), p.show(c.moveTo), added, removed)
			if now, err = p.move(c, step); err != nil {
				return err
			}
		}
	}
	if after == before && step.do == nil {
		return nil
	}
	p.steps = append(p.steps, step)
	if after != before {
		step.diff = p.diffOf(step.path, before, after)
		p.write(now, step, after)
	}
	return nil
}

// write plans a new text of a file.
func (p *patchPlan) write(now *plannedText, step *patchStep, text string) {
	if now.write == nil {
		now.write = &patchWrite{path: now.from, step: step}
		p.writes = append(p.writes, now.write)
	}
	now.text, now.write.text = text, text
}

// move plans a rename and returns what is then at the new path.
func (p *patchPlan) move(c fileChange, step *patchStep) (*plannedText, error) {
	there, err := p.text(c.moveTo, false)
	if err != nil {
		return nil, err
	}
	if !there.absent {
		return nil, fmt.Errorf("cannot move it: %s already exists: use another path, or delete that file first", p.show(c.moveTo))
	}
	now, err := p.text(c.path, true)
	if err != nil {
		return nil, err
	}
	step.path = c.moveTo
	step.do = func(ctx context.Context, b *scopefs.Batch) error { return b.Rename(ctx, c.path, c.moveTo) }
	moved := now
	if now.gone {
		moved = there
		*moved = plannedText{text: now.text, entry: there.entry, gone: there.gone, from: now.from, write: now.write}
	} else {
		p.texts[there.entry] = now
	}
	from, err := p.take(c.path, now)
	p.moves[from] = there.entry
	return moved, err
}

func (p *patchPlan) create(c fileChange, now *plannedText) {
	step := &patchStep{
		path: c.path, note: fmt.Sprintf("A %s +%d", p.show(c.path), tool.CountLines(c.content)), diff: p.diffOf(c.path, "", c.content),
	}
	w := &patchWrite{path: c.path, text: c.content, fresh: now.gone, step: step}
	step.do = func(ctx context.Context, b *scopefs.Batch) error { return w.prepare(ctx, b) }
	p.steps = append(p.steps, step)
	now.text, now.absent, now.write = c.content, false, w
}

func (p *patchPlan) remove(path string, now *plannedText) error {
	if now.gone && now.write != nil && now.from != "" {
		now.write.needless = true
	}
	p.steps = append(p.steps, &patchStep{
		path: path, note: "D " + p.show(path), diff: p.diffOf(path, now.text, ""),
		do: func(ctx context.Context, b *scopefs.Batch) error { return b.Remove(ctx, path) },
	})
	_, err := p.take(path, now)
	return err
}

// prepare prepares the write.
func (w *patchWrite) prepare(ctx context.Context, b *scopefs.Batch) error {
	written, err := b.Write(ctx, w.path, []byte(w.text), w.fresh)
	w.step.note += aboutWritten(written)
	return err
}

// commit makes all changes or none; the error says so, or names what could not be undone.
func (p *patchPlan) commit(ctx context.Context) error {
	err := p.mayChange()
	var stuck []string
	if err == nil {
		b := p.Batch()
		if err = p.prepare(ctx, b); err == nil {
			stuck, err = b.Commit()
		}
		err = cmp.Or(err, b.Close())
	}
	switch {
	case err == nil:
		return nil
	case len(stuck) > 0:
		for i, path := range stuck {
			stuck[i] = p.show(path)
		}
		// This must not be retried: something was done.
		return fmt.Errorf("%s; these files were changed and could not be restored: %s; read them before you go on", err.Error(), strings.Join(stuck, ", "))
	}
	return fmt.Errorf("nothing was changed: %w", err)
}

// prepare prepares all changes.
func (p *patchPlan) prepare(ctx context.Context, b *scopefs.Batch) error {
	for _, w := range p.writes {
		if w.needless {
			continue
		}
		if err := w.prepare(ctx, b); err != nil {
			return err
		}
	}
	for _, step := range p.steps {
		if step.do == nil {
			continue
		}
		if err := step.do(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// output lists what was done to each file.
func (p *patchPlan) output() tool.Output {
	var notes []string
	var diffs []item.FileDiff
	path := ""
	for _, step := range p.steps {
		diffs = append(diffs, step.diff)
		if step.note != "" {
			notes = append(notes, step.note)
			path = p.Rel(step.path)
		}
	}
	out := p.listed(path, notes)
	out.Diffs = item.NewDiffs(diffs...)
	return out
}

// listed is an output that lists notes; path is the file if there is but one.
func (p *patchPlan) listed(path string, notes []string) tool.Output {
	switch len(notes) {
	case 0:
		return tool.Output{Summary: "apply_patch: the files already have these changes", Kind: item.OutputEdit}
	case 1:
		return p.edited(path, "apply_patch: "+notes[0], "")
	}
	list := strings.Join(notes, "\n")
	out := tool.Output{Summary: tool.Bound("apply_patch: " + strings.Join(notes, ", ")), Kind: item.OutputEdit}
	if len(out.Summary) > 120 {
		out.Summary, out.Content = fmt.Sprintf("apply_patch: %s changed", tool.Plural(int64(len(notes)), "file")), list+"\n"
	}
	return out
}
