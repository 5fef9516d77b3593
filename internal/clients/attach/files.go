package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"podd/internal/clients/view"
	"podd/pkg/item"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// maxShownFiles is how many changed files /diff shows.
const maxShownFiles = 100

// undo takes back what the agent changed in files, once a person agrees.
func (a *app) undo(args string) {
	if args != "" && args != "merge" {
		a.said = "/undo takes no argument but merge"
		return
	}
	req := &poddv1.RestoreFilesRequest{Pod: a.pod.GetId(), DryRun: true, Merge: args == "merge"}
	ask(a.call, a.Client.Files().RestoreFiles, req, func(plan *poddv1.RestoreFilesResponse, err error) {
		a.told(err)
		switch {
		case err != nil:
			return
		case plan.GetChanged() == 0 && len(plan.GetKept()) == 0:
			a.said = "no file has changes to take back"
			return
		}
		a.stays(plan)
		for _, path := range plan.GetMerged() {
			a.log.notice(dim, "· is merged: "+a.rel(path))
		}
		if plan.GetChanged() == 0 {
			return
		}
		what := "the last undo"
		if n := plan.GetTurn(); n > 0 {
			what = fmt.Sprintf("the changes of turn %d", n)
		}
		a.confirm(fmt.Sprintf("Take back %s in %s?", what, paths(plan.GetChanged())), func() {
			req := &poddv1.RestoreFilesRequest{Pod: req.GetPod(), AfterSeq: plan.GetAfterSeq(), Skip: len(plan.GetKept()) > 0, Merge: req.GetMerge()}
			ask(a.send, a.Client.Files().RestoreFiles, req, func(_ *poddv1.RestoreFilesResponse, err error) { a.told(err) })
		})
	})
}

// stays names what is not taken back.
func (a *app) stays(plan *poddv1.RestoreFilesResponse) {
	for _, k := range plan.GetKept() {
		a.log.notice(yellow, fmt.Sprintf("! stays: %s %s", a.rel(k.GetPath()), k.GetWhy()))
	}
	if plan.GetHeadMoved() {
		a.log.notice(dim, "· stays: HEAD moved meanwhile; see git reflog")
	}
}

// rel is a path as the lines of tools show it: relative to the workspace, if it is inside.
func (a *app) rel(path string) string {
	if rel, err := filepath.Rel(a.pod.GetSpec().GetDir(), path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func paths(n int64) string {
	if n == 1 {
		return "1 path"
	}
	return fmt.Sprintf("%d paths", n)
}

// diff shows what the agent changed in files.
func (a *app) diff(_ string) {
	pod := a.pod.GetId()
	var changed []*poddv1.ChangedFile
	more := 0
	a.call(func(ctx context.Context) error {
		stream, err := a.Client.Files().DiffFiles(ctx, &poddv1.DiffFilesRequest{Pod: pod})
		for err == nil {
			var part *poddv1.DiffFilesResponse
			part, err = stream.Recv()
			switch f := part.GetFile(); {
			case f == nil:
			case len(changed) < maxShownFiles:
				changed = append(changed, f)
			default:
				more++
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}, func(err error) {
		a.told(err)
		if err == nil && len(changed) == 0 {
			a.said = "nothing changed"
		}
		for _, f := range changed {
			f.Path = a.rel(f.GetPath())
			a.log.change(f)
		}
		if more > 0 {
			a.log.notice(dim, fmt.Sprintf("· %d more; podctl diff shows all", more))
		}
	})
}

// change adds a changed file.
func (t *blockList) change(f *poddv1.ChangedFile) {
	title := view.ChangedFile(f)
	if f.GetDiff() == "" {
		t.notice(dim, "· "+title)
		return
	}
	t.blocks = append(t.blocks, &block{Block: transcript.Block{Kind: transcript.Notice}, diff: item.FileDiff{Path: title, Diff: f.GetDiff()}})
}
