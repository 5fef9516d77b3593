package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"podd/internal/guard/policy"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/worker"
)

// executed returns the files of a scope that a command line is known to execute, as they
// are now. Their texts have item.MaxPreviewBytes together.
func executed(fs *scopefs.FS) func(line string) []worker.Executed {
	return func(line string) []worker.Executed {
		var all []worker.Executed
		left := item.MaxPreviewBytes
		for _, names := range policy.Executed(line) {
			for _, name := range names {
				if e, ok := execution(fs, name, left); ok {
					left -= len(e.Shown.Diff)
					all = append(all, e)
					break
				}
			}
		}
		return all
	}
}

// execution is one executed file, and at most so many bytes of its text; false if it is not a
// file of the scope.
func execution(fs *scopefs.FS, name string, most int) (worker.Executed, bool) {
	target := fs.Target(name)
	file, info, err := fs.Bound([]scopefs.Target{target}).Open(name)
	if err != nil {
		return worker.Executed{}, false
	}
	defer file.Close()
	sum, read := sha256.New(), &beginning{}
	if _, err := io.Copy(io.MultiWriter(sum, read), io.LimitReader(file, scopefs.MaxFileBytes)); err != nil {
		return worker.Executed{}, false
	}
	e := worker.Executed{Path: target.Named(), Sum: hex.EncodeToString(sum.Sum(nil)), Size: counted(read.lines, "line")}
	if leads := target.Leads(); len(leads) > 0 {
		e.Leads = leads[0]
	}
	e.Shown = item.Preview{Path: e.Path, Base: e.Sum, Runs: true}
	switch {
	case read.binary:
		e.Size = counted(int(info.Size()), "byte")
		e.Shown.Omitted = "the file is binary: " + e.Size
	case info.Size() > scopefs.MaxFileBytes:
		e.Size = counted(int(info.Size()), "byte")
		e.Shown.Omitted = "the file is too large to show: " + e.Size
	default:
		e.Shown.Diff, e.Shown.Omitted = read.unchanged(most)
	}
	return e, true
}

// counted is a number of things in words.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// beginning keeps the first bytes of a text, and counts its lines.
type beginning struct {
	kept         []byte
	bytes, lines int
	// ended says that the last byte ends a line.
	ended, binary bool
}

func (b *beginning) Write(p []byte) (int, error) {
	b.kept = append(b.kept, p[:min(len(p), item.MaxPreviewBytes-len(b.kept))]...)
	b.bytes += len(p)
	b.ended = bytes.HasSuffix(p, []byte("\n"))
	b.lines += bytes.Count(p, []byte("\n"))
	b.binary = b.binary || bytes.IndexByte(p, 0) >= 0
	return len(p), nil
}

// unchanged is the text as a diff that changes nothing, in at most so many bytes, and what that
// leaves out.
func (b *beginning) unchanged(most int) (diff, omitted string) {
	if b.bytes == 0 {
		return "", ""
	}
	whole := b.bytes == len(b.kept)
	lines := b.lines
	if !b.ended {
		lines++
	}
	var out strings.Builder
	if fmt.Fprintf(&out, "@@ -1,%[1]d +1,%[1]d @@\n", lines); lines == 1 {
		out.Reset()
		out.WriteString("@@ -1 +1 @@\n")
	}
	shown, taken := 0, 0
	for line := range strings.Lines(string(b.kept)) {
		ended := strings.HasSuffix(line, "\n")
		if !ended && !whole {
			break
		}
		text := " " + item.EscapeBytes(line)
		if !ended {
			text += "\n\\ No newline at end of file\n"
		}
		if out.Len()+len(text) > most {
			break
		}
		out.WriteString(text)
		shown, taken = shown+1, taken+len(line)
	}
	if taken < b.bytes {
		omitted = fmt.Sprintf("left out: %s (%s)", counted(lines-shown, "line"), counted(b.bytes-taken, "byte"))
	}
	if shown == 0 {
		return "", omitted
	}
	return out.String(), omitted
}
