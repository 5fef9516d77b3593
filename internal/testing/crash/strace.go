package crash

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// System calls that write.
const (
	// storeCalls are those of the database, spaceCalls the ones among them that need space.
	storeCalls = "pwrite64,fdatasync,fsync,ftruncate"
	spaceCalls = "pwrite64,ftruncate,fallocate"
	// fileCalls are those of the spool, of the workspace and of sockets.
	fileCalls = "write,unlinkat,renameat,renameat2,mkdirat"
)

// straceMissing says why strace can't be used; nil when it can.
func straceMissing(dir string) error {
	path, err := exec.LookPath("strace")
	if err != nil {
		return fmt.Errorf("strace is missing: install it (apt-get install strace) and run this again: %w", err)
	}
	out, err := exec.Command(path, "-f", "-b", "execve", "-qq", "-o", dir+"/strace", "-e", "inject=fsync:error=EIO:when=1", "true").CombinedOutput()
	if err != nil {
		return fmt.Errorf("strace can't trace here: allow ptrace (in a container: --cap-add SYS_PTRACE): %w %s", err, out)
	}
	return nil
}

// tracer is the command line that runs podd below strace, which acts on calls of these
// names whose number is within when, as each thread counts them. It does not affect
// commands that podd starts.
func (r *round) tracer(calls, what, when string) []string {
	return []string{"strace", "-D", "-f", "-b", "execve", "-qq", "-o", r.dir + "/strace",
		"-e", "trace=" + calls, "-e", "inject=" + calls + ":" + what + ":when=" + when}
}

// injected says whether strace made a call fail.
func (r *round) injected() bool {
	text, err := os.ReadFile(r.dir + "/strace")
	return err == nil && bytes.Contains(text, []byte("(INJECTED)"))
}

// fault is a strace that makes calls of a running podd fail until it is lifted.
type fault struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// attach makes calls fail from now on.
func (r *round) attach(calls, errno string) (*fault, error) {
	f := &fault{done: make(chan struct{})}
	f.cmd = exec.Command("strace", "-f", "-b", "execve", "-p", strconv.Itoa(r.podd.cmd.Process.Pid), "-o", r.dir+"/strace",
		"-e", "trace="+calls, "-e", "inject="+calls+":error="+errno)
	stderr, err := f.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := f.cmd.Start(); err != nil {
		return nil, err
	}
	attached := make(chan struct{})
	tell := sync.OnceFunc(func() { close(attached) })
	said := ""
	go func() {
		defer close(f.done)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			said += lines.Text() + "\n"
			if strings.Contains(said, " attached") {
				tell()
			}
		}
		_ = f.cmd.Wait()
	}()
	select {
	case <-attached:
		return f, nil
	case <-f.done:
		return nil, fmt.Errorf("strace did not attach: %s", said)
	}
}

// lift ends the fault.
func (f *fault) lift() {
	_ = f.cmd.Process.Signal(syscall.SIGINT)
	<-f.done
}
