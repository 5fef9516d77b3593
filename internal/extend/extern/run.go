package extern

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"podd/internal/commands/process"
	"podd/pkg/item"
	"podd/pkg/tool"
)

const (
	// maxVerdict is the most that an interceptor may write to standard output.
	maxVerdict = 1 << 20
	// maxStderr is how much of each end of standard error is kept.
	maxStderr = 32 << 10
	// grace is the time between SIGTERM and SIGKILL.
	grace = time.Second
	// drainTime bounds the reading of output after a command has ended; its pipes end by
	// themselves unless a process outlived it.
	drainTime = time.Second
)

// answer is the output of a command that ended by itself.
type answer struct {
	status         int
	stdout, stderr string
}

// run runs a command for an event. It may write most bytes to standard output; with 0 the
// output is unlimited and dropped. An error is the rest of a sentence that begins with the
// command's name.
func (r *Runner) run(ctx context.Context, c Command, e event, most int) (answer, error) {
	input, err := e.encode()
	if err != nil {
		return answer{}, fmt.Errorf("could not deliver the event: %w", err)
	}
	return r.execute(ctx, c, e, input, func(cmd *exec.Cmd) (*pipes, error) { return openPipes(cmd, most) })
}

// Answer is what the command of another program's hook said.
type Answer struct {
	Status int
	// Stdout is its first MiB, Stderr has both ends.
	Stdout, Stderr string
}

// Foreign runs the command of another program's hook in the workspace of a pod: name is that of
// the event, input its standard input. Output beyond the first MiB is dropped. An
// error is the rest of a sentence that begins with the command's name.
func (r *Runner) Foreign(ctx context.Context, c Command, pod item.Pod, name string, input []byte) (Answer, error) {
	a, err := r.execute(ctx, c, event{Event: name, Pod: describe(pod)}, input, func(cmd *exec.Cmd) (*pipes, error) {
		p, err := openPipes(cmd, maxVerdict)
		if err == nil {
			p.stdout.full = nil
		}
		return p, err
	})
	return Answer{Status: a.status, Stdout: tool.Repair(a.stdout), Stderr: a.stderr}, err
}

// execute runs a command with an input until it has ended or must be stopped.
func (r *Runner) execute(ctx context.Context, c Command, e event, input []byte, open func(*exec.Cmd) (*pipes, error)) (answer, error) {
	r.running.RLock()
	defer r.running.RUnlock()
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("did not answer within %s and was stopped", c.Timeout))
	defer cancel()
	if err := r.ended(ctx); err != nil {
		return answer{}, err
	}
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Dir = cmp.Or(e.Pod.Dir, "/")
	cmd.Env = c.environment(r.Environ, cmd.Dir, e)
	p, err := open(cmd)
	if err != nil {
		return answer{}, fmt.Errorf("could not start: %w", err)
	}
	tree, err := e.start(cmd)
	p.started()
	if err != nil {
		p.close()
		return answer{}, notStarted(cmd.Dir, err)
	}
	p.feed(input)
	why := r.wait(ctx, tree, p)
	if left := tree.Stop(grace); left > 0 {
		r.Logger.Warn("cannot stop processes of a command", "name", c.Name, "count", left)
	}
	p.close()
	a := answer{stdout: string(p.stdout.head), stderr: p.stderr.text()}
	if why == nil && p.stdout.full != nil && p.stdout.over() {
		why = errTooLong
	}
	if why == nil {
		a.status, why = status(tree.State())
	}
	return a, why
}

// start starts the command of an event. That of a reconciler can be found by the next podd.
func (e *event) start(cmd *exec.Cmd) (*process.Tree, error) {
	if e.Event == eventReconcile {
		return process.StartNamed(cmd, reconcilerOf(e.Call.Digest))
	}
	return process.Start(cmd)
}

var errTooLong = fmt.Errorf("wrote more than %d bytes to its standard output", maxVerdict)

// wait waits until the command has ended by itself (nil) or must be stopped.
func (r *Runner) wait(ctx context.Context, tree *process.Tree, p *pipes) error {
	select {
	case <-tree.Exited():
		return nil
	case <-p.stdout.full:
		return errTooLong
	case <-ctx.Done():
	case <-r.base.Done():
	}
	return r.ended(ctx)
}

// ended says why waiting is over; nil while it is not.
func (r *Runner) ended(ctx context.Context) error {
	switch {
	case r.base.Err() != nil:
		return context.Cause(r.base)
	case ctx.Err() == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return context.Cause(ctx)
	}
	return errCut
}

// errCut is the error of a command that was stopped because its turn was cancelled.
var errCut = errors.New("was stopped with its turn")

// status is the exit status of a command that ended by itself.
func status(s *os.ProcessState) (int, error) {
	if s == nil {
		return 0, errors.New("did not end")
	}
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 0, fmt.Errorf("was killed by a signal: %s", ws.Signal())
	}
	return s.ExitCode(), nil
}

// notStarted says whether the command or its directory is missing.
func notStarted(dir string, err error) error {
	if _, missing := os.Stat(dir); missing != nil {
		return fmt.Errorf("cannot start in the workspace: %w", plain(missing))
	}
	return fmt.Errorf("cannot start: %w", plain(err))
}

// plain is an error of os/exec without the name of the call.
func plain(err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return fmt.Errorf("%s: %w", e.Name, e.Err)
	}
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Path, e.Err)
	}
	return err
}

// lastLine is the last non-empty line of a text, shortened for a sentence and after ": "; ""
// if the text is empty.
func lastLine(text string) string {
	const most = 200
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := tool.Bound(strings.TrimSpace(lines[len(lines)-1]))
	if runes := []rune(last); len(runes) > most {
		last = string(runes[:most]) + "…"
	}
	if last == "" {
		return ""
	}
	return ": " + last
}
