package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	turn          int64
	after         sequence
	stat, leftOut bool
}

func (o *diffOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff [POD] [PATH...]",
		Short: "Show what a pod changed in files",
		Long: "Shows what the agent changed in files, by tools and commands: in the last turn that changed some, in --turn or " +
			"after an entry. What others changed meanwhile follows. PATH restricts it to files and directories; name POD " +
			"first.",
		Example: "  podctl diff api\n  podctl diff api --turn 3 src",
		PreRunE: o.check,
		RunE:    p.onPod(o.run),
	}
	f := cmd.Flags()
	f.Int64Var(&o.turn, "turn", 0, "the turn (default: the last one that changed files)")
	f.Var(&o.after, "after", "all changes after this entry, instead of those of a turn")
	f.BoolVar(&o.stat, "stat", false, "only the paths and how many lines changed")
	f.BoolVar(&o.leftOut, "left-out", false, "also name the paths that podd does not keep")
	return cmd
}

func (o *diffOptions) check(cmd *cobra.Command, _ []string) error {
	switch {
	case cmd.Flags().Changed("turn") && o.turn < 1:
		return usagef("--turn %d is not the number of a turn: podctl tail shows them", o.turn)
	case o.turn > 0 && o.after > 0:
		return usagef("give --turn or --after, not both")
	}
	return nil
}

func (o *diffOptions) run(ctx context.Context, s *session, args []string) error {
	r := &poddv1.DiffFilesRequest{Pod: s.pod, Turn: o.turn, AfterSeq: int64(o.after), LeftOut: o.leftOut}
	for _, path := range args[1:] {
		r.Paths = append(r.Paths, valid(path))
	}
	stream, err := s.Files().DiffFiles(ctx, r)
	if err != nil {
		return err
	}
	d := shownDiff{program: s.program, console: s.console(), stat: o.stat}
	for {
		part, err := stream.Recv()
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
