package extern

import (
	"os"
	"os/exec"
	"sync"
	"time"

	"podd/internal/commands/process"
	"podd/pkg/tool"
)

// pipes are podd's ends of the standard streams of one command.
type pipes struct {
	stdin          *os.File
	stdout, stderr *capture
	// theirs are the command's ends.
	theirs []*os.File
	wg     sync.WaitGroup
}

// openPipes creates a command's streams; at least most bytes of its standard output are
// kept. Call started and close afterwards.
func openPipes(cmd *exec.Cmd, most int) (*pipes, error) {
	p := &pipes{stdout: &capture{limit: most}, stderr: &capture{limit: maxStderr}}
	if most > 0 {
		p.stdout.full = make(chan struct{})
	}
	var files [6]*os.File
	for i := 0; i < len(files); i += 2 {
		r, w, err := os.Pipe()
		if err != nil {
			for _, f := range files[:i] {
				_ = f.Close()
			}
			return nil, err
		}
		files[i], files[i+1] = r, w
	}
	cmd.Stdin, p.stdin = files[0], files[1]
	p.stdout.file, cmd.Stdout = files[2], files[3]
	p.stderr.file, cmd.Stderr = files[4], files[5]
	p.theirs = []*os.File{files[0], files[3], files[5]}
	return p, nil
}

// started closes podd's copies of the command's ends.
func (p *pipes) started() {
	for _, f := range p.theirs {
		_ = f.Close()
	}
}

// feed writes the command's input and reads its output, in goroutines that close ends. A
// command need not read its input.
func (p *pipes) feed(input []byte) {
	p.wg.Go(func() {
		_, _ = p.stdin.Write(input)
		_ = p.stdin.Close()
	})
	p.wg.Go(p.stdout.read)
	p.wg.Go(p.stderr.read)
}

// close waits for the output of the command, which has ended. It does not wait for processes
// that outlived the command and keep a pipe open.
func (p *pipes) close() {
	_ = p.stdin.Close()
	for _, c := range []*capture{p.stdout, p.stderr} {
		_ = c.file.SetReadDeadline(time.Now().Add(drainTime))
	}
	p.wg.Wait()
	for _, c := range []*capture{p.stdout, p.stderr} {
		_ = c.file.Close()
	}
}

// capture keeps the start and the end of a command's output.
type capture struct {
	file *os.File
	// limit is how many bytes of each end are kept at least.
	limit      int
	head, tail []byte
	total      int64
	// full is closed when the output is longer than limit; nil if it may be long.
	full chan struct{}
}

// read reads to the end.
func (c *capture) read() { process.ReadPipe(c.file, c.add) }

func (c *capture) add(more []byte) {
	before := c.over()
	c.total += int64(len(more))
	room := min(c.limit-len(c.head), len(more))
	c.head = append(c.head, more[:room]...)
	if c.tail = append(c.tail, more[room:]...); len(c.tail) > 2*c.limit {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-c.limit:]...)
	}
	if c.full != nil && !before && c.over() {
		close(c.full)
	}
}

// over says whether the output was longer than limit.
func (c *capture) over() bool { return c.total > int64(c.limit) }

// text is the output, without its middle if it is long.
func (c *capture) text() string {
	if c.total <= int64(len(c.head)+len(c.tail)) {
		return tool.Repair(string(c.head) + string(c.tail))
	}
	return tool.Repair(string(c.head)) + "\n[cut]\n" + tool.Repair(string(c.tail))
}
