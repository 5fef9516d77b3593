package attach

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"podd/internal/clients/show"
	"podd/internal/clients/view"
	"podd/internal/commands/process"
	"podd/internal/sanitize"
	"podd/pkg/transcript"
)

// The bounds of a command of the person's own.
const (
	mostShellTime = 120 * time.Second
	// shellGrace is how long it has to end by itself.
	shellGrace = time.Second
	// mostShellBytes is how much of its output is kept: half from its begin, half from its end.
	mostShellBytes = 64 << 10
	// mostShellLines is how many lines show while calls are folded.
	mostShellLines = 20
	// mostName is how much of it names its piece of the draft, in bytes.
	mostName = 100
)

// shellRun is a command of the person's own, which runs as they do, outside of any sandbox.
type shellRun struct {
	command string
	// only says that the output is shown, and goes nowhere.
	only  bool
	block *block
	stop  context.CancelFunc
	// output is what it has written so far; ended how it ended, "" while it runs.
	output, ended string
}

// shell is the command that the draft is: !COMMAND, or !!COMMAND, whose output is only
// shown. Like a slash, a pasted exclamation mark is text.
func (e *editor) shell() (command string, only, ok bool) {
	if e.empty() || e.cells[0].g != "!" || e.cells[0].from != byKey {
		return "", false, false
	}
	command, only = strings.CutPrefix(e.whole()[1:], "!")
	return strings.TrimSpace(command), only, true
}

// runs runs the draft if it is a command of the person's own, and says whether it is. As with
// commands of the view, the draft is empty then.
func (a *app) runs() bool {
	command, only, ok := a.prompt.draft.shell()
	if !ok {
		return false
	}
	hidden := slices.ContainsFunc(a.prompt.draft.cells, func(c cell) bool { return c.paste != "" })
	a.prompt.history.add(a.prompt.draft, "")
	a.prompt.draft.clear()
	switch {
	case a.Remote:
		a.said = "a command would run on this machine, not on the pod's; a blank before ! makes it text"
	case command == "":
		a.said = "give a command after !; a blank before it makes it text"
	case hidden:
		a.said = "a command takes no folded paste: paste its lines one by one, or run a file"
	case a.shell != nil:
		a.said = "a command still runs; Esc ends it"
	default:
		a.start(command, only)
	}
	return true
}

// start runs a command in the pod's directory.
func (a *app) start(command string, only bool) {
	ctx, stop := context.WithTimeout(a.ctx, mostShellTime)
	run := &shellRun{command: command, only: only, stop: stop}
	run.block = &block{Block: transcript.Block{Kind: transcript.Notice}, run: run}
	a.log.blocks = append(a.log.blocks, run.block)
	a.shell, a.view = run, scroll{}
	shell := a.Env("SHELL")
	if shell == "" {
		shell = "/bin/sh"
	}
	c := exec.Command(shell, "-c", command) //nolint:gosec,noctx // The person typed it; the tree is stopped below.
	c.Dir, c.Env = a.pod.GetSpec().GetDir(), os.Environ()
	out := &excerpt{}
	out.changed = func() { a.hand(func() { run.output, run.block.lines = out.text(), nil }) }
	c.Stdout, c.Stderr = out, out
	began := time.Now()
	ended := ""
	a.call(func(context.Context) error {
		defer stop()
		tree, err := process.Start(c)
		if err != nil {
			ended = "cannot run it: " + err.Error()
			return nil
		}
		select {
		case <-tree.Exited():
			ended = strings.Replace(tree.State().String(), "exit status", "exit", 1)
		case <-ctx.Done():
			ended = "ended by Esc"
			if ctx.Err() == context.DeadlineExceeded {
				ended = fmt.Sprintf("ended after %d seconds", mostShellTime/time.Second)
			}
		}
		tree.Stop(shellGrace)
		<-tree.Exited()
		ended += ", " + view.Duration(time.Since(began))
		return nil
	}, func(error) {
		a.shell = nil
		run.output, run.ended, run.block.lines = out.text(), ended, nil
		if !only {
			a.prompt.draft.at = len(a.prompt.draft.cells)
			a.prompt.draft.put(run.piece())
		}
	})
}

// piece is the command's output as a piece of the draft.
func (r *shellRun) piece() cell {
	text := strings.ToValidUTF8(strings.ReplaceAll(r.output, "\x00", ""), "\ufffd")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	name := "$ " + strings.Join(strings.Fields(r.command), " ")
	if len(name) > mostName {
		name = strings.ToValidUTF8(name[:mostName], "") + "…"
	}
	return cell{paste: text + "[" + r.ended + "]\n", name: name}
}

// lay lays the command and its output out, of which the end shows unless all is open.
func (r *shellRun) lay(columns int, open bool) (lines []line) {
	state, lead := r.ended, in(dim, "  | ")
	if state == "" {
		state = "running; Esc ends it"
	}
	lines = append(lines, in(cyan, "$ "+sanitize.Line(r.command)+"  ("+state+")").Fit(columns))
	if strings.TrimSpace(r.output) == "" {
		return lines
	}
	texts := show.Text(strings.Trim(r.output, "\n"), dim)
	if over := len(texts) - mostShellLines; over > 0 && !open {
		lines = append(lines, in(dim, fmt.Sprintf("    +%s above, ^T shows all", view.Count(int64(over)))))
		texts = texts[over:]
	}
	for _, l := range texts {
		lines = append(lines, show.WrapAnywhere(l, lead, lead, columns)...)
	}
	return lines
}

// excerpt keeps the begin and the end of what is written to it.
type excerpt struct {
	mu         sync.Mutex
	head, tail []byte
	left       int
	// changed is called when there is more than text returned; told says that it was.
	changed func()
	told    bool
}

func (e *excerpt) Write(p []byte) (int, error) {
	e.mu.Lock()
	n := len(p)
	room := min(max(mostShellBytes/2-len(e.head), 0), n)
	e.head = append(e.head, p[:room]...)
	e.tail = append(e.tail, p[room:]...)
	if over := len(e.tail) - mostShellBytes/2; over > 0 {
		e.tail = e.tail[over:]
		e.left += over
	}
	told := e.told
	e.told = true
	e.mu.Unlock()
	if !told {
		e.changed()
	}
	return n, nil
}

// text is what was kept.
func (e *excerpt) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told = false
	var b bytes.Buffer
	b.Write(e.head)
	if e.left > 0 {
		fmt.Fprintf(&b, "\n[%s bytes left out]\n", view.Count(int64(e.left)))
	}
	b.Write(e.tail)
	return b.String()
}
