package confine_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"podd/internal/commands/confine"
)

// The roles of this binary as a second process: it tries everything, confined or free. Its
// standard input is a listener, and it writes what came of it to its standard output.
const (
	role     = "CONFINE_TEST_ROLE"
	confined = "confined"
	free     = "free"
)

func TestMain(m *testing.M) {
	if as := os.Getenv(role); as != "" {
		attempt(as)
		return
	}
	goleak.VerifyTestMain(m)
}

// raw makes a system call.
func raw(call uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, errno := unix.Syscall6(call, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

// attempts are what a process that was taken over tries. socket is one that was open before.
func attempts(dir string, socket, parent int) map[string]func() error {
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	nowhere, nothing := append([]byte(dir), "/no\x00"...), []byte{0}
	page, _ := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	owner := struct {
		kind int32
		pid  int32
	}{1, int32(parent)} // F_OWNER_PID
	here := unsafe.Pointer(&page[0])
	return map[string]func() error{
		"open a file":              func() error { _, err := os.Open(file); return err },
		"create a file":            func() error { return os.WriteFile(link+"new", nil, 0o600) },
		"open by openat2":          func() error { _, err := unix.Openat2(unix.AT_FDCWD, file, &unix.OpenHow{}); return err },
		"remove a file":            func() error { return unix.Unlink(filepath.Join(dir, "spare")) },
		"link a file":              func() error { return unix.Symlink(file, link) },
		"change a mode":            func() error { return unix.Chmod(file, 0o777) },
		"look at a file":           func() error { _, err := os.Stat(file); return err },
		"watch files":              func() error { _, err := unix.InotifyInit1(0); return err },
		"make a file of memory":    func() error { _, err := unix.MemfdCreate("x", 0); return err },
		"change the directory":     func() error { return unix.Chdir(dir) },
		"a TCP socket":             func() error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); return err },
		"a Unix socket":            func() error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
		"a netlink socket":         func() error { _, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, 0); return err },
		"a pair of sockets":        func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
		"bind an open socket":      func() error { return unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}) },
		"listen at an open socket": func() error { return unix.Listen(socket, 1) },
		"connect an open socket":   func() error { return unix.Connect(socket, &unix.SockaddrUnix{Name: filepath.Join(dir, "socket")}) },
		"send to an address": func() error {
			return unix.Sendto(socket, []byte("x"), unix.MSG_NOSIGNAL, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: 9})
		},
		"pass a descriptor": func() error { return unix.Sendmsg(1, []byte("\n"), nil, nil, 0) },
		"start a program":   func() error { return exec.Command("/bin/true").Run() },
		"become a program":  func() error { return raw(unix.SYS_EXECVE, uintptr(unsafe.Pointer(&nowhere[0])), 0, 0) },
		"become an open file": func() error {
			return raw(unix.SYS_EXECVEAT, 0, uintptr(unsafe.Pointer(&nothing[0])), 0, 0, unix.AT_EMPTY_PATH)
		},
		"a process":                 func() error { return raw(unix.SYS_CLONE, unix.CLONE_SIGHAND) },
		"the same in a newer way":   func() error { return raw(unix.SYS_CLONE3) },
		"trace the parent":          func() error { return raw(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(parent), 0, 0) },
		"read the parent's memory":  func() error { return raw(unix.SYS_PROCESS_VM_READV, uintptr(parent), 0, 0, 0, 0) },
		"write the parent's memory": func() error { return raw(unix.SYS_PROCESS_VM_WRITEV, uintptr(parent), 0, 0, 0, 0) },
		"signal the parent":         func() error { return unix.Kill(parent, 0) },
		"signal a thread of it":     func() error { return unix.Tgkill(parent, parent, 0) },
		"signal everybody":          func() error { return unix.Kill(-1, 0) },
		"a handle of the parent":    func() error { _, err := unix.PidfdOpen(parent, 0); return err },
		"have the kernel signal it": func() error { _, err := unix.FcntlInt(0, unix.F_SETOWN, parent); return err },
		"the same in another way":   func() error { return raw(unix.SYS_FCNTL, 0, unix.F_SETOWN_EX, uintptr(unsafe.Pointer(&owner))) },
		"type into a terminal":      func() error { return raw(unix.SYS_IOCTL, 2, unix.TIOCGWINSZ, uintptr(here)) },
		"memory to execute": func() error {
			_, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
			return err
		},
		"execute written memory":  func() error { return unix.Mprotect(page, unix.PROT_READ|unix.PROT_EXEC) },
		"namespaces":              func() error { return unix.Unshare(unix.CLONE_NEWUSER | unix.CLONE_FS) },
		"a session":               func() error { _, err := unix.Setsid(); return err },
		"io_uring":                func() error { return raw(unix.SYS_IO_URING_SETUP, 1, uintptr(here)) },
		"keys":                    func() error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); return err },
		"BPF":                     func() error { return raw(unix.SYS_BPF, 1<<20, 0, 0) },
		"events of the processor": func() error { return raw(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 0) },
		"a filter of its own":     func() error { return raw(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(here)) },
		"options of IP":           func() error { return unix.SetsockoptInt(socket, unix.IPPROTO_IP, unix.IP_TTL, 9) },
		"its limits":              func() error { return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) },
		"dump itself":             func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) },
	}
}

// attempt is the second process.
func attempt(as string) {
	parent := os.Getppid() // Confined, it could not ask.
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil && as == confined {
		err = work(confine.Answer)
	}
	outcome := map[string]string{}
	for name, try := range attempts(os.Getenv("DIR"), socket, parent) {
		outcome[name] = "done"
		if err := try(); err != nil {
			outcome[name] = err.Error()
			if refusal := errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS); refusal {
				outcome[name] = "refused"
			}
		}
	}
	if err == nil {
		err = serve()
	}
	outcome["serve"] = fmt.Sprint(err)
	_ = json.NewEncoder(os.Stdout).Encode(outcome)
}

// work calls seal while threads run, and has each of them try to open a file afterwards.
func work(seal func() error) error {
	var started, ended sync.WaitGroup
	sealed, failed := make(chan struct{}), make(chan error, 4)
	for range cap(failed) {
		started.Add(1)
		ended.Go(func() {
			runtime.LockOSThread()
			started.Done()
			<-sealed
			if _, err := os.Open("/dev/null"); !errors.Is(err, unix.EPERM) {
				failed <- fmt.Errorf("a thread from before opens a file: %v", err)
			}
		})
	}
	started.Wait()
	err := seal()
	close(sealed)
	ended.Wait()
	close(failed)
	return errors.Join(err, <-failed)
}

// serve answers one connection, with new threads, timers and collected memory.
func serve() error {
	l, err := net.FileListener(os.Stdin)
	if err != nil {
		return err
	}
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	var threads sync.WaitGroup
	for range 20 {
		threads.Go(func() {
			runtime.LockOSThread()
			_ = make([]byte, 8<<20)
			time.Sleep(time.Millisecond)
		})
	}
	threads.Wait()
	runtime.GC()
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	_, err = io.CopyN(conn, conn, 5)
	return err
}

// run starts the second process, talks to it as a client, and returns what came of it.
func run(t *testing.T, as string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"file", "spare"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unixed, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer unixed.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{role + "=" + as, "DIR=" + dir}
	cmd.Stdin = file
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, "hello")
	back := make([]byte, 5)
	if _, err := io.ReadFull(conn, back); err != nil || string(back) != "hello" {
		t.Errorf("it answers %q, %v", back, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, errs.String())
	}
	outcome := map[string]string{}
	for line := range strings.Lines(out.String()) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := json.Unmarshal([]byte(line), &outcome); err != nil {
			t.Fatalf("%v: %s %s", err, out.String(), errs.String())
		}
	}
	return outcome
}

// A process that only answers can do nothing else. Each attempt is one that the kernel would
// allow, or would look at, without the filter.
func TestAnswer(t *testing.T) {
	sealed, open := run(t, confined), run(t, free)
	for _, of := range []map[string]string{sealed, open} {
		if of["serve"] != "<nil>" {
			t.Errorf("it does not serve: %s", of["serve"])
		}
		delete(of, "serve")
	}
	if len(sealed) < 40 || len(open) != len(sealed) {
		t.Fatalf("%d and %d attempts were made", len(sealed), len(open))
	}
	for name, what := range sealed {
		if what != "refused" {
			t.Errorf("%s: %s", name, what)
		}
		if open[name] == "refused" {
			t.Logf("%s is refused without the filter too: it shows nothing here", name)
		}
	}
}
