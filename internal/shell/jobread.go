package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"podd/pkg/item"
	"podd/pkg/lazy"
	"podd/pkg/tool"
)

// secretBytes is longer than any secret: a part is redacted together with as many bytes
// before it.
const secretBytes = 4 << 10

// jobTextBytes bounds the output of a job in one result.
func jobTextBytes(l tool.Limit) int { return l.MaxBytes - 256 }

// outputBounds are where the output begins and ends in its file.
type outputBounds struct {
	skip, size int64
	// command is what the header says, shortened.
	command string
}

func boundsOf(f *os.File) outputBounds {
	var b outputBounds
	info, err := f.Stat()
	if err != nil {
		return b
	}
	b.size = info.Size()
	start := make([]byte, 1<<10)
	n, err := f.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return b
	}
	line, _, whole := bytes.Cut(start[:n], []byte("\n"))
	if command, ok := strings.CutPrefix(string(line), "$ "); ok && whole {
		b.skip, b.command = int64(len(line))+1, command
	}
	return b
}

// gone is about where the released blocks at the beginning of the output end. Before it
// the file has no disk space and reads as zeros.
func (b outputBounds) gone(f *os.File) int64 {
	const block = 4 << 10
	first := (b.skip + block - 1) / block * block
	if first >= b.size {
		return 0
	}
	if data := dataFrom(f, first); data > first {
		return data - b.skip
	}
	return 0
}

// JobOutput is a part of a job's output.
type JobOutput struct {
	// Job is the job as it was just before the output was read: if it had ended, nothing
	// comes after End.
	Job  item.Job
	Text string
	// From is where Text begins in the output and Mark where it ends, in bytes.
	From, Mark int64
	// End is the size of the whole output.
	End int64
	// Rest is how many bytes before Mark are of a line that is not whole.
	Rest int64
	// Gone says that the output is not kept any more.
	Gone bool
}

// read returns at most limit bytes of the output without secrets, from a mark; if the
// mark is negative, the last ones. After the end there is nothing.
func (j *job) read(after int64, limit int) JobOutput {
	now := j.entry()
	s, err := j.pod.runner()
	if err != nil {
		return JobOutput{Job: now, Gone: true}
	}
	f, err := os.Open(j.path())
	if err != nil {
		return JobOutput{Job: now, Gone: true}
	}
	defer f.Close()
	b := boundsOf(f)
	end := b.size - b.skip
	if after < 0 {
		after = max(end-int64(limit), 0)
	}
	after = min(after, end)
	gone := b.gone(f)
	after = min(max(after, gone), end)
	before := min(after, secretBytes)
	text := make([]byte, before+min(end-after, int64(limit)))
	n, err := f.ReadAt(text, b.skip+after-before)
	if err != nil && !errors.Is(err, io.EOF) || int64(n) < before {
		return JobOutput{Job: now, From: after, Mark: after, End: end}
	}
	text = text[:n]
	if gone > 0 && after == gone {
		rest := bytes.TrimLeft(text[before:], "\x00")
		after, text, n, before = after+int64(n)-before-int64(len(rest)), rest, len(rest), 0
	}
	if after+int64(n)-before < end {
		// Return whole lines if there is one.
		if line := bytes.LastIndexByte(text[before:], '\n'); line >= 0 {
			text = text[:before+int64(line)+1]
		}
	}
	if now.State == item.JobRunning || after+int64(len(text))-before < end {
		text = text[:len(text)-tool.Unfinished(text)]
	}
	rest := len(text) - bytes.LastIndexByte(text, '\n') - 1
	redact := s.Limits.Redact
	if j.note().Terminal {
		redact = func(text string) string { return s.Limits.Redact(unpainted(text)) }
	}
	return JobOutput{
		Job: now, Text: withoutSecrets(redact, string(text[:before]), string(text[before:])), From: after, Mark: after + int64(len(text)) - before, End: end,
		Rest: min(int64(rest), int64(len(text))-before),
	}
}

// sequences are what a terminal is controlled with.
var sequences = lazy.Regexp("\x1b\\[[0-9;:?<=>]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(\x07|\x1b\\\\)|\x1b[ -/]*[0-~]|\r+\n")

// starts are carriage returns at the beginning of a line, where they change nothing.
var starts = lazy.Regexp("(?m)^\r+")

// unpainted is what was printed to a terminal without what controls it.
func unpainted(text string) string {
	return starts().ReplaceAllString(sequences().ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasSuffix(s, "\n") {
			return "\n"
		}
		return ""
	}), "")
}

// withoutSecrets is a text without its secrets, including those that begin before it.
func withoutSecrets(redact func(string) string, before, text string) string {
	whole, first := redact(before+text), redact(before)
	if rest, ok := strings.CutPrefix(whole, first); ok {
		return tool.Repair(rest)
	}
	n := 0
	for n < min(len(whole), len(first)) && whole[n] == first[n] {
		n++
	}
	return tool.Repair(whole[n:])
}

// printed says how long a part of the output is.
func printed(o JobOutput) string {
	if o.Text == "" {
		return "no output"
	}
	text := tool.Plural(tool.CountLines(o.Text), "line")
	if more := o.End - o.Mark; more > 0 {
		text += fmt.Sprintf(" (%d bytes more)", more)
	}
	return text
}
