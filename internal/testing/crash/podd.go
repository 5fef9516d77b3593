package crash

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Command is how to run podd.
type Command struct {
	// Argv is the program and its first arguments, Env what its environment has in addition
	// to what a round sets.
	Argv, Env []string
	// Files are what it inherits, from descriptor 3 on.
	Files []*os.File
}

// process is one run of podd.
type process struct {
	cmd *exec.Cmd
	// ready is closed once podd answers, exited once it was reaped.
	ready, exited chan struct{}
	// sawFailure says that podd logged that its store failed. It may be read once
	// exited is closed.
	sawFailure bool
	// sawDetach says that podd got the error that strace leaves behind when it detaches in
	// the middle of a call whose failure it injects.
	sawDetach bool
	// sawThrow says that Go's runtime could not write to its own event descriptor, which it
	// does not survive.
	sawThrow bool
	// sawFence says that podd logged that it lost its lease. Of its pods the others may have some.
	sawFence bool
}

// startPodd starts podd below a tracer, if there is one, and returns at once. Its log is
// appended to a file.
func startPodd(c Command, tracer, args, env []string, logPath string) (*process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	argv := append(append(append([]string{}, tracer...), c.Argv...), args...)
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), ready: make(chan struct{}), exited: make(chan struct{})}
	p.cmd.ExtraFiles = c.Files
	p.cmd.Env = append(append([]string{"PATH=" + os.Getenv("PATH")}, c.Env...), env...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	fmt.Fprintf(log, "=== %s %s\n", time.Now().Format(time.TimeOnly+".000"), strings.Join(argv, " "))
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go p.follow(stderr, log)
	return p, nil
}

// follow copies the log and reaps the process.
func (p *process) follow(stderr io.Reader, log *os.File) {
	defer close(p.exited)
	defer log.Close()
	ready := sync.OnceFunc(func() { close(p.ready) })
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintln(log, lines.Text())
		text := lines.Text()
		if strings.Contains(text, `"msg":"podd ready"`) {
			ready()
		}
		if strings.Contains(text, `"msg":"store failed`) {
			p.sawFailure = true
			p.sawDetach = strings.Contains(text, syscall.ENOSYS.Error())
		}
		p.sawFence = p.sawFence || strings.Contains(text, "lost its lease")
		// The runtime may write in the middle of another line.
		if strings.Contains(text, "netpollBreak write failed") {
			p.sawThrow = true
		}
	}
	_ = p.cmd.Wait()
	fmt.Fprintf(log, "=== %s %v\n", time.Now().Format(time.TimeOnly+".000"), p.cmd.ProcessState)
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// over says whether the process has ended.
func (p *process) over() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// killed says whether SIGKILL ended the process, which has ended.
func (p *process) killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// code is the exit code of an ended process; -1 if a signal ended it.
func (p *process) code() int { return p.cmd.ProcessState.ExitCode() }

// settings is the configuration of a round.
type settings struct {
	// api is one of apis.
	api string
	// asks makes marked calls ask a person.
	asks bool
	// store is the URL of a database; empty for a file.
	store string
	// till is an MCP server that pods have. It notes its calls in the directory notes; empty for the
	// workspace.
	till  bool
	notes string
	// letters lets each pod write to each.
	letters bool
}

// keepTokens is what a compaction keeps unchanged: little, so that there are many
// compactions.
const keepTokens = 100

func (s settings) write(dir string) error {
	return os.WriteFile(filepath.Join(dir, "config.toml"), []byte(s.text()), 0o600)
}

func (s settings) text() string {
	text := fmt.Sprintf("api = %q\n[compaction]\nkeep_tokens = %d\n", s.api, keepTokens)
	if s.asks {
		text += fmt.Sprintf("[[interceptor]]\nname = \"asks\"\non = [\"before_tool\"]\ntimeout = \"30s\"\ncommand = %q\n", askingCommand)
	}
	if s.till {
		text += fmt.Sprintf("[mcp.servers.till]\ncommand = \"/bin/sh\"\nargs = [\"-c\", %q]\nenv = {NOTES = %q}\n[[rule]]\ntool = \"mcp__till__*\"\ndecision = \"allow\"\n", tillScript, cmp.Or(s.notes, "."))
	}
	if s.letters {
		text += "[[rule]]\ntool = \"send_message\"\ndecision = \"allow\"\n"
	}
	if s.store != "" {
		text += fmt.Sprintf("[store]\nurl = %q\n", s.store)
	}
	return text
}

// askingCommand is an interceptor that asks about calls with the mark.
const askingCommand = `case $(cat) in *'` + askMark + `'*) echo '{"verdict":"ask","reason":"the harness asks"}' ;; esac`
