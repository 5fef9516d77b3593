package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// undoOptions are the flags of undo.
type undoOptions struct{ skip, merge, dryRun bool }

func (o *undoOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "undo [POD]",
		Short: "Take back what a pod changed in files",
		Long: "Takes back what the agent changed in files in the last turn that changed some, by tools and commands. A second " +
			"undo takes the first one back. It never overwrites what somebody else wrote: if such a file is among them, it " +
			"changes nothing and names it. --merge takes the agent's lines out of a text that somebody changed in other " +
			"lines, and keeps theirs. The conversation stays; podctl rewind --files takes back both. Commits, branches and tags stay in " +
			"any case: git reflog shows where HEAD was.",
		Example: "  podctl undo api --dry-run",
		RunE:    p.onPod(o.run),
	}
	cmd.Flags().BoolVar(&o.skip, "skip", false, "skip files that somebody changed since, and take the others back")
	cmd.Flags().BoolVar(&o.merge, "merge", false, "merge texts that somebody changed in other lines since")
	cmd.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "only say what would change")
	return cmd
}

func (o *undoOptions) run(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Files().RestoreFiles(ctx, &poddv1.RestoreFilesRequest{Pod: s.pod, Skip: o.skip, Merge: o.merge, DryRun: o.dryRun})
	of := "the last undo"
	if resp.GetTurn() > 0 {
		of = fmt.Sprintf("changes of turn %d", resp.GetTurn())
	}
	return s.answer(resp, err, line("%s", restored(resp, of, o.dryRun)))
}

// restored says what became of files, and of what changes.
func restored(resp *poddv1.RestoreFilesResponse, of string, dry bool) string {
	did := "took back " + of + " in " + plural(int(resp.GetChanged()), "path")
	switch {
	case resp.GetChanged() == 0:
		did = "no file has " + of + " to take back"
	case dry:
		did = "would take back " + of + " in " + plural(int(resp.GetChanged()), "path")
	}
	did += listed(resp.GetPaths(), resp.GetMerged(), resp.GetKept())
	if resp.GetHeadMoved() {
		did += "\n  stays: HEAD moved meanwhile; see git reflog"
	}
	return did
}

// listed names paths that changed, those that were merged, and those that stay, a line each.
func listed(changed, merged []string, kept []*poddv1.KeptFile) string {
	var b strings.Builder
	for _, path := range changed {
		b.WriteString("\n  " + sanitize.Line(path))
	}
	for _, path := range merged {
		b.WriteString("\n  merged: " + sanitize.Line(path))
	}
	for _, k := range kept {
		b.WriteString("\n  stays: " + sanitize.Line(k.GetPath()) + " " + sanitize.Line(k.GetWhy()))
	}
	return b.String()
}
