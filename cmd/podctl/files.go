package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newDiffCommand(p *program) *cobra.Command {
	r := &poddv1.DiffFilesRequest{}
	var stat bool
	cmd := &cobra.Command{
		Use:   "diff [POD] [PATH...]",
		Short: "Show what a pod changed in files",
		Long: "Shows what the agent changed in files, by tools and commands: in the last turn that changed some, in --turn or " +
			"after an entry. What others changed meanwhile follows. PATH restricts it to files and directories; name POD " +
			"first.",
		Example: "  podctl diff api\n  podctl diff api --turn 3 src",
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("turn") && r.GetTurn() < 1 {
				return usageError{fmt.Errorf("--turn %d is not the number of a turn: podctl tail shows them", r.GetTurn())}
			}
			if r.GetTurn() > 0 && r.GetAfterSeq() > 0 {
				return usageError{errors.New("give --turn or --after, not both")}
			}
			r.Paths = nil
			for _, path := range args[1:] {
				r.Paths = append(r.Paths, valid(path))
			}
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				r.Pod = pod
				stream, err := c.Files().DiffFiles(cmd.Context(), r)
				if err != nil {
					return err
				}
				d := shownDiff{program: p, console: p.console(), stat: stat}
				return d.all(stream.Recv)
			})
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&r.Turn, "turn", 0, "the turn (default: the last one that changed files)")
	flags.Var((*sequence)(&r.AfterSeq), "after", "all changes after this entry, instead of those of a turn")
	flags.BoolVar(&stat, "stat", false, "only the paths and how many lines changed")
	flags.BoolVar(&r.LeftOut, "left-out", false, "also name the paths that podd does not keep")
	return cmd
}

// all shows the parts of a diff as they come.
func (d *shownDiff) all(next func() (*poddv1.DiffFilesResponse, error)) error {
	for {
		part, err := next()
		if errors.Is(err, io.EOF) {
			return d.end()
		}
		if err == nil {
			err = d.part(part)
		}
		if err != nil {
			return err
		}
	}
}

// shownDiff is what a diff has shown so far.
type shownDiff struct {
	*program
	console view.Console
	stat    bool
	// some says that there was a part; by and left which headings there were.
	some, left bool
	by         poddv1.CheckpointBy
}

func (d *shownDiff) end() error {
	if d.some || d.output != outputText {
		return nil
	}
	_, err := fmt.Fprintln(d.stderr, "nothing changed")
	return err
}

func (d *shownDiff) part(part *poddv1.DiffFilesResponse) error {
	d.some = true
	if d.output == outputJSON {
		return d.printJSON(part)
	}
	f, heading := part.GetFile(), ""
	switch {
	case f == nil && !d.left:
		heading, d.left = "podd does not keep", true
	case f != nil && f.GetBy() != d.by && f.GetBy() == poddv1.CheckpointBy_CHECKPOINT_BY_PERSON:
		heading = "others changed meanwhile"
	}
	d.by = f.GetBy()
	if heading != "" {
		if _, err := fmt.Fprintf(d.stdout, "\n%s:\n", heading); err != nil {
			return err
		}
	}
	if f == nil {
		_, err := fmt.Fprintln(d.stdout, "  "+sanitize.Line(part.GetLeftOut()))
		return err
	}
	return d.file(f)
}

// file shows one changed file: a line about it, then its diff.
func (d *shownDiff) file(f *poddv1.ChangedFile) error {
	title := view.ChangedFile(f)
	switch {
	case d.stat || f.GetDiff() == "":
		_, err := fmt.Fprintln(d.stdout, title)
		return err
	case d.console.Render:
		return d.console.WriteDiff(title, f.GetDiff())
	}
	// In a pipe it is what patch and editors read.
	names := [2]string{f.GetPath(), f.GetPath()}
	for i, kind := range []string{f.GetBefore(), f.GetAfter()} {
		if kind == "" {
			names[i] = os.DevNull
		}
	}
	_, err := fmt.Fprintf(d.stdout, "--- %s\n+++ %s\n%s", sanitize.Line(names[0]), sanitize.Line(names[1]), sanitize.Terminal(f.GetDiff()))
	return err
}

func newUndoCommand(p *program) *cobra.Command {
	r := &poddv1.RestoreFilesRequest{}
	cmd := &cobra.Command{
		Use:   "undo [POD]",
		Short: "Take back what a pod changed in files",
		Long: "Takes back what the agent changed in files in the last turn that changed some, by tools and commands. A second " +
			"undo takes the first one back. It never overwrites what somebody else wrote: if such a file is among them, it " +
			"changes nothing and names it. --merge takes the agent's lines out of a text that somebody changed in other " +
			"lines, and keeps theirs. The conversation stays; podctl rewind --files takes back both. Commits, branches and tags stay in " +
			"any case: git reflog shows where HEAD was.",
		Example: "  podctl undo api --dry-run",
		RunE: p.onPod(func(ctx context.Context, c *client.Client, pod string, _ []string) error {
			r.Pod = pod
			resp, err := c.Files().RestoreFiles(ctx, r)
			if err != nil {
				return err
			}
			of := "the last undo"
			if resp.GetTurn() > 0 {
				of = fmt.Sprintf("changes of turn %d", resp.GetTurn())
			}
			return p.print(resp, line("%s", restored(resp, of, r.GetDryRun())))
		}),
	}
	cmd.Flags().BoolVar(&r.Skip, "skip", false, "skip files that somebody changed since, and take the others back")
	cmd.Flags().BoolVar(&r.Merge, "merge", false, "merge texts that somebody changed in other lines since")
	cmd.Flags().BoolVarP(&r.DryRun, "dry-run", "n", false, "only say what would change")
	return cmd
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
	var b strings.Builder
	b.WriteString(did)
	for _, path := range resp.GetPaths() {
		b.WriteString("\n  " + sanitize.Line(path))
	}
	for _, path := range resp.GetMerged() {
		b.WriteString("\n  merged: " + sanitize.Line(path))
	}
	for _, k := range resp.GetKept() {
		b.WriteString("\n  stays: " + sanitize.Line(k.GetPath()) + " " + sanitize.Line(k.GetWhy()))
	}
	if resp.GetHeadMoved() {
		b.WriteString("\n  stays: HEAD moved meanwhile; see git reflog")
	}
	return b.String()
}
