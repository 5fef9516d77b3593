package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/transcript"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// Formats are the formats of an export.
var Formats = []string{"md", "html", "json"}

// FormatOf is the format that the name of a file asks for; md if it asks for none.
func FormatOf(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json", ".jsonl":
		return "json"
	case ".html", ".htm":
		return "html"
	}
	return "md"
}

// Log is a pod and the stream of its log, without fragments.
type Log struct {
	Pod    *poddv1.Pod
	Stream iter.Seq2[*poddv1.StreamResponse, error]
	// Image reads the bytes of an image, by its digest.
	Image func(ctx context.Context, digest string) ([]byte, error)
}

// Write writes a log in one of the formats; json is one entry a line. The document has no
// blocks then.
func (l Log) Write(ctx context.Context, w io.Writer, format string) (d Document, err error) {
	d = Document{
		Pod: l.Pod.GetName(), Dir: l.Pod.GetSpec().GetDir(), Model: l.Pod.GetSpec().GetModel(), Times: make(map[item.Seq]time.Time),
		Image: func(digest string) ([]byte, error) { return l.Image(ctx, digest) },
	}
	t := transcript.New(transcript.Options{})
	for m, err := range l.Stream {
		if err != nil {
			return d, err
		}
		e := m.GetEntry()
		if e == nil {
			continue
		}
		d.To = item.Seq(e.GetSeq())
		if d.From == 0 {
			d.From = d.To
		}
		if format != "json" {
			d.Times[d.To] = e.GetTime().AsTime()
			t.Apply(m)
			continue
		}
		line, err := wire.JSON(e)
		if err != nil {
			return d, fmt.Errorf("cannot write entry #%d as JSON: %w", d.To, err)
		}
		if _, err := fmt.Fprintln(w, sanitize.JSON(string(line))); err != nil {
			return d, err
		}
	}
	d.Blocks = t.Blocks()
	switch format {
	case "md":
		err = Markdown(w, d)
	case "html":
		err = HTML(w, d)
	}
	return d, err
}

// WriteFile writes a log to a file that only its owner can read. The file appears whole or not
// at all. If it exists, the error is an fs.ErrExist, unless it is to be replaced.
func (l Log) WriteFile(ctx context.Context, name, format string, replace bool) (d Document, err error) {
	if _, err := os.Lstat(name); err == nil && !replace {
		return d, fs.ErrExist
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".podctl-export-")
	if err != nil {
		// The name of the temporary file says nothing.
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			err = at.Err
		}
		return d, fmt.Errorf("cannot write %s: %w", name, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	out := bufio.NewWriter(f)
	d, err = l.Write(ctx, out, format)
	if err == nil {
		err = out.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return d, err
	}
	if replace {
		err = os.Rename(f.Name(), name)
	} else if err = os.Link(f.Name(), name); errors.Is(err, fs.ErrExist) {
		return d, fs.ErrExist
	}
	if err != nil {
		err = fmt.Errorf("cannot write %s: %w", name, err)
	}
	return d, err
}
