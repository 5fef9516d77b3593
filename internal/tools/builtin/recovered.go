package builtin

import (
	"context"
	"errors"
	"strings"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// planOf is what a call makes of one file.
func (f *files) planOf(path string, before plannedText, after string, err error) []item.PlannedChange {
	if err != nil {
		return f.planFails(path)
	}
	return []item.PlannedChange{{Path: f.Rel(path), Before: before.base(), After: planned(after).base()}}
}

// planFails is that a call which would fail leaves its files as they are; nothing if one cannot be read.
func (f *files) planFails(paths ...string) (list []item.PlannedChange) {
	for _, path := range paths {
		base, err := f.baseNow(path)
		if err != nil {
			return nil
		}
		list = append(list, item.PlannedChange{Path: f.Rel(path), Before: base, After: base})
	}
	return list
}

// base identifies a text; see [item.BaseOf].
func (t plannedText) base() string {
	if t.absent {
		return item.NoFile
	}
	return item.BaseOf([]byte(t.text))
}

func (f *files) planWrite(_ context.Context, call *tool.Invocation, args writeArgs) []item.PlannedChange {
	f = f.bound(call)
	f.changing.Lock()
	defer f.changing.Unlock()
	_, before, _, err := f.allowWrite(&args)
	return f.planOf(args.Path, before, args.Content, err)
}

func (f *files) planEditCall(_ context.Context, call *tool.Invocation, args editArgs) []item.PlannedChange {
	args.Path = f.alike(args.Path)
	f = f.bound(call)
	f.changing.Lock()
	defer f.changing.Unlock()
	p, err := f.planEdit(args)
	return f.planOf(args.Path, planned(p.before), p.after, err)
}

func (f *files) planPatchCall(_ context.Context, call *tool.Invocation, args patchArgs) (list []item.PlannedChange) {
	changes, err := f.patchChanges(args)
	if err != nil {
		return nil
	}
	f = f.bound(call)
	f.changing.Lock()
	defer f.changing.Unlock()
	plan, err := f.planPatch(changes)
	if err != nil {
		var paths []string
		for _, c := range changes {
			paths = append(paths, c.path)
			if c.moveTo != "" {
				paths = append(paths, c.moveTo)
			}
		}
		return f.planFails(paths...)
	}
	for _, from := range plan.found {
		c := item.PlannedChange{Path: from.path, Before: from.base(), After: plan.has(from).base()}
		if c.Before != c.After {
			list = append(list, c)
		}
	}
	return list
}

// recovered compares the files with what an interrupted call was about to make of them. What was done
// is on the disk before its result is.
func (f *files) recovered(ctx context.Context, name string, call *tool.Invocation) (tool.Output, item.Recovery, error) {
	ctx, f = granted(ctx, call), f.bound(call)
	f.changing.Lock()
	defer f.changing.Unlock()
	var done, not, other, unread []string
	for _, c := range call.Planned {
		var err error
		now, known := call.Since[c.Path]
		if !known {
			now, err = f.baseNow(c.Path)
		}
		if !known && err == nil && now == c.After && c.Before != c.After {
			err = f.Sync(scopefs.Approved(ctx), c.Path) // It changes no content.
		}
		switch {
		case err == nil && now == c.After && c.Before != c.After:
			done = append(done, scopefs.Display(c.Path))
		case err == nil && now == c.Before:
			not = append(not, scopefs.Display(c.Path))
		case err != nil:
			unread = append(unread, scopefs.Display(c.Path))
		default:
			other = append(other, scopefs.Display(c.Path))
		}
	}
	list := func(paths []string) string { return strings.Join(paths, ", ") }
	switch {
	case len(call.Planned) == 0:
		return tool.Output{}, item.RecoveryUnknown, nil
	case len(unread) > 0:
		return tool.Error("%s: interrupted when podd ended; whether it was done is not known, because %s cannot be read", name, list(unread)), item.RecoveryUnknown, nil
	case len(other) > 0:
		return tool.Error("%s: interrupted when podd ended; %s has neither the content from before the call nor the one after it: read it before you go on",
			name, list(other)), item.RecoveryUnknown, nil
	case len(done) == 0:
		return tool.Error("%s: not done: podd ended before the call changed %s; call again if it is still needed", name, list(not)), item.RecoveryNoEffect, nil
	case len(not) > 0:
		return tool.Error("%s: interrupted when podd ended; done: %s; not done: %s", name, list(done), list(not)), item.RecoveryFound, nil
	}
	path := ""
	if len(call.Planned) == 1 {
		path = call.Planned[0].Path
	}
	return f.edited(path, name+": done: "+list(done)+"; podd ended during the call, and found the files changed", ""), item.RecoveryFound, nil
}

// baseNow identifies what a file has now.
func (f *files) baseNow(path string) (string, error) {
	file, err := f.ReadFile(path, maxEditBytes)
	if isKind(err, scopefs.NotFound) {
		return item.NoFile, nil
	}
	if err == nil && file.Truncated {
		err = errors.New("the file is too large")
	}
	if err != nil {
		return "", err
	}
	return item.BaseOf(file.Data), nil
}

// recovers is the option of a tool that changes files.
func recovers[A any](f *files, name string) tool.Option[A] {
	return tool.Recovers(func(ctx context.Context, call *tool.Invocation, _ A) (tool.Output, item.Recovery, error) {
		return f.recovered(ctx, name, call)
	})
}
