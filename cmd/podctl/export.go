package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/export"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
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
		Long: "Writes a pod's conversation as Markdown, as one HTML file without scripts, or as JSON with one entry of the log\n" +
			"a line. Without --to it prints it. A new file is readable for you alone.",
		Example:           "  podctl export api --to api.md\n  podctl export api --format html --to /tmp/api.html",
		Args:              operands,
		ValidArgsFunction: p.completePods,
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
		switch ext := strings.ToLower(filepath.Ext(p.to)); {
		case p.output == outputJSON, ext == ".json", ext == ".jsonl":
			p.format = "json"
		case ext == ".html", ext == ".htm":
			p.format = "html"
		default:
			p.format = "md"
		}
	}
	switch p.format {
	case "md", "html", "json":
	default:
		return usagef("--format %q: use md, html or json", p.format)
	}
	if p.to != "" && !p.force {
		if _, err := os.Lstat(p.to); err == nil {
			return fileTaken(p.to)
		}
	}
	return nil
}

func fileTaken(name string) error {
	return item.Errorf(item.KindExists, "FILE_EXISTS", "%s already exists: choose another name, or replace it with --force", name)
}

func (p *exporter) export(ctx context.Context, c *client.Client, pod string) error {
	if p.to == "" {
		out := bufio.NewWriter(p.stdout)
		_, err := p.write(ctx, c, pod, out)
		return errors.Join(err, out.Flush())
	}
	// The file appears whole or not at all.
	f, err := os.CreateTemp(filepath.Dir(p.to), ".podctl-export-")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", p.to, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	out := bufio.NewWriter(f)
	d, err := p.write(ctx, c, pod, out)
	if err == nil {
		err = out.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if p.force {
		err = os.Rename(f.Name(), p.to)
	} else if err = os.Link(f.Name(), p.to); errors.Is(err, fs.ErrExist) {
		return fileTaken(p.to)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", p.to, err)
	}
	_, err = fmt.Fprintf(p.stderr, "exported #%d to #%d of pod %s to %s\n", d.From, d.To, sanitize.Line(d.Pod), sanitize.Line(p.to))
	return err
}

// write reads the log and writes it. The document has no blocks if it is not one for people.
func (p *exporter) write(ctx context.Context, c *client.Client, pod string, w io.Writer) (d export.Document, err error) {
	got, err := c.Pod(ctx, pod)
	if err != nil {
		return d, err
	}
	d = export.Document{Pod: got.GetName(), Dir: got.GetSpec().GetDir(), Times: make(map[item.Seq]time.Time)}
	after := max(got.GetFirstSeq()-1, 0)
	if p.fromAfter {
		after = p.after
	}
	t := transcript.New(transcript.Options{})
	_, err = showAll(ctx, c, client.StreamOptions{Pod: got.GetId(), After: after}, func(m *poddv1.StreamResponse) error {
		e := m.GetEntry()
		if e == nil {
			return nil
		}
		if seq := item.Seq(e.GetSeq()); d.From == 0 {
			d.From, d.To = seq, seq
		} else {
			d.To = seq
		}
		if p.format == "json" {
			line := *p.program
			var buffer bytes.Buffer
			line.stdout = &buffer
			if err := line.printJSON(e); err != nil {
				return err
			}
			_, err := w.Write(buffer.Bytes())
			return err
		}
		d.Times[item.Seq(e.GetSeq())] = e.GetTime().AsTime()
		t.Apply(m)
		return nil
	})
	if err != nil {
		return d, err
	}
	d.Blocks = t.Blocks()
	switch p.format {
	case "md":
		err = export.Markdown(w, d)
	case "html":
		err = export.HTML(w, d)
	}
	return d, err
}
