package shell

import (
	"bytes"
	"errors"
	"io"
	"os"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// Sizes of a capture. They bound its memory, together with twice the limit's bytes for
// each end.
const (
	captureBuffer = 64 << 10
	// smallBuffer is large enough for most outputs.
	smallBuffer = 1 << 10
	// captureStep bounds the work between two checks of clock and context.
	captureStep = 8 << 20
	// maxFragment bounds a live fragment; followers see the end of a burst.
	maxFragment = 8 << 10
)

// capture follows a file that a command writes after a header. It counts everything
// except the header, keeps the two ends in memory, and releases the disk space beyond the
// quota.
//
// The header shows whether the file was emptied: on Linux a command does that to its own
// output when it opens it by name, like >/dev/stderr. What capture had not read by then
// is lost.
//
// It is not safe for concurrent use.
type capture struct {
	file   *os.File
	header []byte
	quota  int64
	// spare is how much of what was read keeps its disk.
	spare int64
	// keep is how much of each end a cut may need.
	keep int
	// report gets new output, in fragments of valid UTF-8; may be nil.
	report func(string)

	offset     int64 // in the file
	total      int64 // of all bytes seen
	newlines   int64
	endsLine   bool
	head, tail []byte
	buffer     []byte
	// partial is the incomplete rune at the end.
	partial []byte
	// dropped says that the file no longer has the whole output, emptied that the command
	// emptied it.
	dropped, emptied bool
}

// newCapture follows a file that has its header.
func newCapture(file *os.File, header string, quota, spare int64, keep int, report func(string)) *capture {
	readPlainly(file)
	return &capture{file: file, header: []byte(header), quota: quota, spare: spare, keep: keep, report: report,
		offset: int64(len(header)), buffer: make([]byte, smallBuffer)}
}

// advance reads new output, at most captureStep of it, and says whether it reached the
// end. The error is that of the file, or errNoHoles.
func (c *capture) advance() (atEnd bool, err error) {
	if err := c.checkHeader(); err != nil {
		return false, err
	}
	var fresh []byte
	defer func() {
		c.send(fresh)
		// Once for all that was read: each time costs the file system a transaction.
		if gaveBack := c.giveBack(); err == nil {
			err = gaveBack
		}
	}()
	for read := 0; read < captureStep; {
		if len(c.buffer) == captureBuffer {
			c.skip(dataFrom(c.file, c.offset) - c.offset)
		}
		n, err := c.file.ReadAt(c.buffer, c.offset)
		if n == len(c.buffer) && n < captureBuffer {
			c.buffer = make([]byte, captureBuffer)
			continue
		}
		read += n
		c.add(c.buffer[:n])
		fresh = lastOf(append(fresh, lastOf(c.buffer[:n], maxFragment)...), maxFragment)
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

func (c *capture) add(p []byte) {
	if len(p) == 0 {
		return
	}
	c.offset += int64(len(p))
	c.total += int64(len(p))
	c.newlines += int64(bytes.Count(p, []byte("\n")))
	c.endsLine = p[len(p)-1] == '\n'
	if room := c.keep - len(c.head); room > 0 {
		c.head = append(c.head, p[:min(room, len(p))]...)
	}
	c.tail = append(c.tail, lastOf(p, c.keep)...)
	if len(c.tail) > 2*c.keep {
		c.tail = append(c.tail[:0], lastOf(c.tail, c.keep)...)
	}
}

// skip counts n zeros that need no reading. A command can make its output as long as it
// likes without writing any of it.
func (c *capture) skip(n int64) {
	if n <= 0 {
		return
	}
	zeros := make([]byte, min(n, int64(c.keep)))
	c.add(zeros)
	c.offset += n - int64(len(zeros))
	c.total += n - int64(len(zeros))
}

// giveBack releases the disk space of an output over the quota. No result names a file
// with holes, so all that was read can go.
func (c *capture) giveBack() error {
	if c.total <= c.quota {
		return nil
	}
	c.dropped = true
	return punchHole(c.file, int64(len(c.header)), c.offset-c.spare)
}

// checkHeader starts again if the file was emptied.
func (c *capture) checkHeader() error {
	info, err := c.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() >= c.offset && c.emptied {
		return nil
	}
	if info.Size() >= c.offset {
		start := make([]byte, len(c.header))
		if _, err := c.file.ReadAt(start, 0); err != nil || bytes.Equal(start, c.header) {
			return err
		}
	}
	c.offset, c.dropped, c.emptied = 0, true, true
	return nil
}

// backlog is how much is written and not yet read.
func (c *capture) backlog() int64 {
	info, err := c.file.Stat()
	if err != nil {
		return 0
	}
	return max(info.Size()-c.offset, 0)
}

// drain reads to the current end of the file; a process that left the tree may still be
// writing. It takes a bounded time: beyond the quota it only counts the bytes, and reads
// the end.
func (c *capture) drain() error {
	for left := 4*c.quota + 8*captureStep; left >= 0; left -= captureStep {
		if atEnd, err := c.advance(); atEnd || err != nil {
			return err
		}
	}
	if over := c.backlog() - int64(c.keep); over > 0 {
		c.offset, c.total, c.dropped = c.offset+over, c.total+over, true
	}
	_, err := c.advance()
	return err
}

func (c *capture) send(fresh []byte) {
	if c.report == nil || len(fresh) == 0 {
		return
	}
	fresh = append(c.partial, fresh...)
	whole := len(fresh) - tool.Unfinished(fresh)
	c.partial = bytes.Clone(fresh[whole:])
	if whole > 0 {
		c.report(tool.Repair(string(fresh[:whole])))
	}
}

func (c *capture) lines() int64 {
	if c.total > 0 && !c.endsLine {
		return c.newlines + 1
	}
	return c.newlines
}

// content is the output within the limit. cut is nil if that is all of it. spool is the
// file's path, to be named if it has more.
func (c *capture) content(limit tool.Limit, spool string) (text string, cut *item.Cut) {
	if c.total <= int64(limit.MaxBytes) && c.lines() <= int64(limit.MaxLines) {
		return tool.Repair(string(c.head)), nil
	}
	middle := c.between
	if c.dropped {
		spool, middle = "", nil
	}
	tail := lastOf(c.tail, c.keep)
	text, counts := limit.Fit(string(c.head), string(tail), middle, item.Cut{TotalBytes: c.total, TotalLines: c.lines(), SpoolPath: spool})
	return text, &counts
}

// between is what the output has between two offsets, or the start of that.
func (c *capture) between(from, to int64) string {
	part := make([]byte, max(min(to-from, captureStep), 0))
	n, _ := c.file.ReadAt(part, int64(len(c.header))+from)
	return string(part[:n])
}

// ends is the kept part of the output, in whole lines.
func (c *capture) ends() string {
	tail := lastOf(c.tail, c.keep)
	if c.total <= int64(len(c.head)) {
		return tool.Repair(string(c.head))
	}
	if whole := int64(len(c.head)+len(tail)) - c.total; whole >= 0 {
		return tool.Repair(string(c.head) + string(tail[whole:]))
	}
	head := c.head[:bytes.LastIndexByte(c.head, '\n')+1]
	_, tail, _ = bytes.Cut(tail, []byte("\n"))
	return tool.Repair(string(head) + string(tail))
}

func lastOf(p []byte, n int) []byte { return p[max(len(p)-n, 0):] }
