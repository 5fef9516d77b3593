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

// exporter is the verb export with its flags.
type exporter struct {
	*program
	format, to string
	after      int64
	fromAfter  bool
	force      bool
}

func newExportCommand(of *program) *cobra.Command {
	p := &exporter{program: of}
	cmd := &cobra.Command{
		Use:   "export [POD]",
		Short: "Write a pod's conversation to a file",
		Long: "Writes a pod's conversation as Markdown, as one HTML file without scripts, or as JSON Lines, one entry of the log " +
			"each. The HTML file holds the pictures; the others name them. Without --to it prints it. A new file is " +
			"readable for you alone.",
		Example: "  podctl export api --to api.md\n  podctl export api --format html --to /tmp/api.html",
		RunE: func(cmd *cobra.Command, args []string) error {
			p.fromAfter = cmd.Flags().Changed("after")
			if err := p.check(cmd); err != nil {
				return err
			}
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error { return p.export(cmd.Context(), c, pod) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.format, "format", "", "md, html or json (default: by the name of the file, else md)")
	f.StringVar(&p.to, "to", "", "file to write (default: standard output)")
	f.Var((*sequence)(&p.after), "after", "only entries above this number")
	f.BoolVar(&p.force, "force", false, "replace the file if it exists")
	completeWith(cmd, "format", "md", "html", "json")
	completeWith(cmd, "after")
	return cmd
}

// check completes and checks the flags.
func (p *exporter) check(cmd *cobra.Command) error {
	if cmd.Flags().Changed("to") && (p.to == "" || p.to == "-") {
		return usagef("--to needs the name of a file; leave it out for standard output")
	}
	if !cmd.Flags().Changed("format") {
		p.format = export.FormatOf(p.to)
		if p.output == outputJSON {
			p.format = "json"
		}
	}
	if !slices.Contains(export.Formats, p.format) {
		return usagef("--format %q: use md, html or json", p.format)
	}
	if _, err := os.Lstat(p.to); p.to != "" && !p.force && err == nil {
		return fileTaken(p.to)
	}
	return nil
}

func fileTaken(name string) error {
	return item.Errorf(item.KindExists, "FILE_EXISTS", "%s already exists: choose another name, or replace it with --force", name)
}

func (p *exporter) export(ctx context.Context, c *client.Client, pod string) error {
	got, err := c.Pod(ctx, pod)
	if err != nil {
		return err
	}
	after := max(got.GetFirstSeq()-1, 0)
	if p.fromAfter {
		after = p.after
	}
	log := export.Log{Pod: got, Stream: c.Stream(ctx, client.StreamOptions{Pod: got.GetId(), After: after}), Image: c.Image}
	if p.to == "" {
		out := bufio.NewWriter(p.stdout)
		_, err := log.Write(ctx, out, p.format)
		return cmp.Or(err, out.Flush()) // What fails to be written fails in both.
	}
	d, err := log.WriteFile(ctx, p.to, p.format, p.force)
	if errors.Is(err, fs.ErrExist) {
		return fileTaken(p.to)
	}
	if err != nil {
		return err
	}
	if d.From == 0 {
		_, err = fmt.Fprintf(p.stderr, "exported pod %s, which has no entries, to %s\n", sanitize.Line(d.Pod), sanitize.Line(p.to))
		return err
	}
	_, err = fmt.Fprintf(p.stderr, "exported #%d to #%d of pod %s to %s\n", d.From, d.To, sanitize.Line(d.Pod), sanitize.Line(p.to))
	return err
}
