package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"podd/internal/clients/export"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
)

// exportOptions are the flags of export.
type exportOptions struct {
	format, to string
	after      sequence
	// fromAfter says that --after was given, 0 included.
	fromAfter, force bool
}

func (o *exportOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export [POD]",
		Short: "Write a pod's conversation to a file",
		Long: "Writes a pod's conversation as Markdown, as one HTML file without scripts, or as JSON Lines, one entry of the log " +
			"each. The HTML file holds the pictures; the others name them. Without --to it prints it. A new file is " +
			"readable for you alone.",
		Example: "  podctl export api --to api.md\n  podctl export api --format html --to /tmp/api.html",
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("format") && p.output == outputJSON {
				o.format = "json"
			} else if !cmd.Flags().Changed("format") {
				o.format = export.FormatOf(o.to)
			}
			o.fromAfter = cmd.Flags().Changed("after")
			return o.check(cmd.Flags().Changed("to"))
		},
		RunE: p.onPod(o.run),
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "md, html or json (default: by the name of the file, else md)")
	f.StringVar(&o.to, "to", "", "file to write (default: standard output)")
	f.Var(&o.after, "after", "only entries above this number")
	f.BoolVar(&o.force, "force", false, "replace the file if it exists")
	completeWith(cmd, "format", "md", "html", "json")
	completeWith(cmd, "after")
	return cmd
}

func (o *exportOptions) check(toFile bool) error {
	if toFile && (o.to == "" || o.to == "-") {
		return usagef("--to needs the name of a file; leave it out for standard output")
	}
	if !slices.Contains(export.Formats, o.format) {
		return usagef("--format %q: use md, html or json", o.format)
	}
	if _, err := os.Lstat(o.to); o.to != "" && !o.force && err == nil {
		return fileTaken(o.to)
	}
	return nil
}

func fileTaken(name string) error {
	return item.Errorf(item.KindExists, "FILE_EXISTS", "%s already exists: choose another name, or replace it with --force", name)
}

func (o *exportOptions) run(ctx context.Context, s *session, _ []string) error {
	got, err := s.Pod(ctx, s.pod)
	if err != nil {
		return err
	}
	after := max(got.GetFirstSeq()-1, 0)
	if o.fromAfter {
		after = int64(o.after)
	}
	log := export.Log{Pod: got, Stream: s.Stream(ctx, client.StreamOptions{Pod: got.GetId(), After: after}), Image: s.Image}
	if o.to == "" {
		out := bufio.NewWriter(s.stdout)
		_, err := log.Write(ctx, out, o.format)
		return cmp.Or(err, out.Flush()) // What fails to be written fails in both.
	}
	d, err := log.WriteFile(ctx, o.to, o.format, o.force)
	if errors.Is(err, fs.ErrExist) {
		return fileTaken(o.to)
	}
	if err != nil {
		return err
	}
	if d.From == 0 {
		_, err = fmt.Fprintf(s.stderr, "exported pod %s, which has no entries, to %s\n", sanitize.Line(d.Pod), sanitize.Line(o.to))
		return err
	}
	_, err = fmt.Fprintf(s.stderr, "exported #%d to #%d of pod %s to %s\n", d.From, d.To, sanitize.Line(d.Pod), sanitize.Line(o.to))
	return err
}
