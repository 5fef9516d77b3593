package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

type patchArgs struct {
	Input string `json:"input"`
}

type patcher struct{ *files }

func newApplyPatch(f *files) tool.Tool {
	p := &patcher{f}
	return tool.New("apply_patch", patchDescription, p.run, tool.Touches(p.access), tool.Previews(p.preview))
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

func (p *patcher) run(ctx context.Context, call *tool.Invocation, args patchArgs) (tool.Output, error) {
	ctx, p = granted(ctx, call), &patcher{p.bound(call)}
	p.changing.Lock()
	defer p.changing.Unlock()
	plan, err := p.plan(args)
	if err == nil {
		err = plan.commit(ctx)
	}
	if err != nil {
		return failed(ctx, "apply_patch", err)
	}
	return plan.output(), nil
}

func (p *patcher) preview(ctx context.Context, call *tool.Invocation, args patchArgs) (tool.Preview, error) {
	p = &patcher{p.bound(call)}
	p.changing.Lock()
	defer p.changing.Unlock()
	plan, err := p.plan(args)
	if err != nil {
		return fails(ctx, "apply_patch", err)
	}
	return tool.Preview{Files: plan.previews()}, nil
}

func (p *patcher) plan(args patchArgs) (*patchPlan, error) {
	changes, err := parsePatch(args.Input)
	if err != nil {
		return nil, err
	}
	plan := &patchPlan{files: p.files, texts: make(map[string]*plannedText), moves: make(map[string]string)}
	for _, c := range changes {
		if err := plan.add(c); err != nil {
			return nil, fmt.Errorf("nothing was changed: %s: %w", p.show(c.path), err)
		}
	}
	return plan, nil
}

// patchPlan is the result of a patch, computed in memory before the first write.
type patchPlan struct {
	*files
	// texts is the planned content of the files so far, by the path to show.
	texts map[string]*plannedText
	// found are the files as they are on the disk, in the order of the patch.
	found []foundText
	// moves are the new paths to show of moved files, by the old ones.
	moves map[string]string
	steps []patchStep
}

// foundText is the text of a file on the disk; path is the path to show.
type foundText struct {
	path string
	plannedText
}

// plannedText is the text of a file in the plan; absent says that the file does not
// exist.
type plannedText struct {
	text   string
	absent bool
}

func planned(text string) plannedText { return plannedText{text: text} }

// patchStep is one change on the disk and how to undo it.
type patchStep struct {
	path, note string
	diff       item.FileDiff
	do, undo   func(context.Context) error
}

// text is the planned text of a path, read from the disk the first time.
func (p *patchPlan) text(path string) (*plannedText, error) {
	key := p.Rel(path)
	if t, ok := p.texts[key]; ok {
		return t, nil
	}
	data, err := p.load(path)
	if err != nil && !isKind(err, scopefs.NotFound) {
		return nil, err
	}
	t := &plannedText{text: string(data), absent: err != nil}
	if !t.absent {
		if err := p.unchanged(path, data); err != nil {
			return nil, err
		}
	}
	p.texts[key] = t
	p.found = append(p.found, foundText{key, *t})
	return t, nil
}

func (p *patchPlan) add(c fileChange) error {
	now, err := p.text(c.path)
	if err != nil {
		return err
	}
	if c.verb == "add" {
		if !now.absent {
			return errors.New("the file exists: use *** Update File, or *** Delete File before it")
		}
		p.write(c.path, now, c.content, fmt.Sprintf("A %s +%d", p.show(c.path), countLines(c.content)))
		return nil
	}
	if now.absent {
		return fmt.Errorf("the file to %s does not exist: check the path, or use *** Add File", c.verb)
	}
	if c.verb == "delete" {
		p.remove(c.path, now)
		return nil
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
	note := fmt.Sprintf("M %s +%d -%d", p.show(c.path), added, removed)
	path := c.path
	if c.moveTo != "" && p.Rel(c.moveTo) != p.Rel(c.path) {
		if now, err = p.move(c, now, fmt.Sprintf("R %s -> %s +%d -%d", p.show(c.path), p.show(c.moveTo), added, removed)); err != nil {
			return err
		}
		path, note = c.moveTo, ""
	}
	if after != now.text {
		p.write(path, now, after, note)
	}
	return nil
}

// move plans a rename and returns what is then at the new path.
func (p *patchPlan) move(c fileChange, now *plannedText, note string) (*plannedText, error) {
	there, err := p.text(c.moveTo)
	if err != nil {
		return nil, err
	}
	if !there.absent {
		return nil, fmt.Errorf("cannot move it: %s already exists: use another path, or delete that file first", p.show(c.moveTo))
	}
	p.steps = append(p.steps, patchStep{path: c.moveTo, note: note,
		do:   func(ctx context.Context) error { return p.Rename(ctx, c.path, c.moveTo) },
		undo: func(ctx context.Context) error { return p.Rename(ctx, c.moveTo, c.path) },
	})
	*there, *now = *now, plannedText{absent: true}
	p.moves[p.Rel(c.path)] = p.Rel(c.moveTo)
	return there, nil
}

func (p *patchPlan) write(path string, now *plannedText, text, note string) {
	before, i := *now, len(p.steps)
	p.steps = append(p.steps, patchStep{path: path, note: note, diff: p.diffOf(path, before.text, text),
		do: func(ctx context.Context) error {
			more, err := p.store(ctx, path, []byte(text))
			if p.steps[i].note == "" {
				more = strings.TrimPrefix(more, "; ")
			}
			p.steps[i].note += more
			return err
		},
		undo: func(ctx context.Context) error {
			if before.absent {
				return p.removeFile(ctx, path)
			}
			return p.restore(ctx, path, before.text)
		},
	})
	*now = plannedText{text: text}
}

func (p *patchPlan) remove(path string, now *plannedText) {
	before := *now
	p.steps = append(p.steps, patchStep{path: path, note: "D " + p.show(path), diff: p.diffOf(path, before.text, ""),
		do:   func(ctx context.Context) error { return p.removeFile(ctx, path) },
		undo: func(ctx context.Context) error { return p.restore(ctx, path, before.text) },
	})
	*now = plannedText{absent: true}
}

// restore gives a file its old content.
func (p *patchPlan) restore(ctx context.Context, path, text string) error {
	_, err := p.store(ctx, path, []byte(text))
	return err
}

// commit performs the steps. If one fails, it undoes the earlier ones; the error says so,
// or names what could not be undone.
func (p *patchPlan) commit(ctx context.Context) error {
	for i, step := range p.steps {
		err := step.do(ctx)
		if err == nil {
			continue
		}
		var stuck []string
		for i--; i >= 0; i-- {
			if p.steps[i].undo(ctx) != nil {
				stuck = append(stuck, p.show(p.steps[i].path))
			}
		}
		if len(stuck) > 0 {
			// This must not be retried: something was done.
			return fmt.Errorf("%s; these files were changed and could not be restored: %s; read them before you go on", err.Error(), strings.Join(stuck, ", "))
		}
		return fmt.Errorf("nothing was changed: %w", err)
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
		out.Summary, out.Content = fmt.Sprintf("apply_patch: %s changed", plural(int64(len(notes)), "file")), list+"\n"
	}
	return out
}
