package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attackVariable makes the test binary carry out an attack: its name and its target.
const attackVariable = "PODD_TEST_ATTACK"

// somewhere is in the memory of each process of this program, at the same address.
var somewhere [8]byte

// attacks are what a command tries. Each returns nil if it succeeded.
var attacks = map[string]func(on string) error{
	"read": func(on string) error {
		text, err := os.ReadFile(on)
		if err == nil && !bytes.Contains(text, []byte("secret")) {
			return errors.New("it is empty")
		}
		return err
	},
	"write": func(on string) error { return os.WriteFile(on, []byte("attacked"), 0o600) },
	"append": func(on string) error {
		file, err := os.OpenFile(on, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = file.WriteString("attacked")
		return err
	},
	"truncate": func(on string) error { return os.Truncate(on, 0) },
	"remove":   os.Remove,
	"mkdir":    func(on string) error { return os.Mkdir(on, 0o700) },
	"rename":   func(on string) error { return os.Rename(on, on+"-moved") },
	"move in":  func(on string) error { return os.Rename(on, "moved") },
	"hard link": func(on string) error {
		if err := os.Link(on, "linked"); err != nil {
			return err
		}
		return os.WriteFile("linked", []byte("attacked"), 0o600)
	},
	"symlink": func(on string) error {
		if err := os.Symlink(on, "linked"); err != nil {
			return err
		}
		return os.WriteFile("linked", []byte("attacked"), 0o600)
	},
	"mount": func(on string) error {
		return exec.Command("unshare", "--user", "--map-root-user", "--mount", "mount", "--bind", on, ".").Run()
	},
	"namespace": func(string) error { return exec.Command("unshare", "--user", "true").Run() },
	"program in memory": func(on string) error {
		self, err := os.ReadFile(os.Args[0])
		if err != nil {
			return err
		}
		fd, err := unix.MemfdCreate("attack", 0)
		if err != nil {
			return err
		}
		if _, err := unix.Write(fd, self); err != nil {
			return err
		}
		if err := os.Setenv(attackVariable, "write|"+on); err != nil {
			return err
		}
		return execFile(fd)
	},
	"terminal": func(on string) error {
		file, err := os.OpenFile(on, os.O_WRONLY|unix.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = file.WriteString("\x1b]52;c;YQ==\a")
		return err
	},
	"keyring": func(on string) error {
		id, err := unix.KeyctlSearch(unix.KEY_SPEC_SESSION_KEYRING, "user", on, 0)
		if err != nil {
			return err
		}
		_, err = unix.KeyctlBuffer(unix.KEYCTL_READ, id, make([]byte, 16), 0)
		return err
	},
	"shared memory": func(on string) error {
		id, err := strconv.Atoi(on)
		if err != nil {
			return err
		}
		_, err = unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
		return err
	},
	"queue": func(on string) error { return openQueue(on, 0) },
	"its limits": func(on string) error {
		pid, err := strconv.Atoi(on)
		if err != nil {
			return err
		}
		// Set the current ones: a control that succeeds must change nothing.
		var limit unix.Rlimit
		if err := unix.Prlimit(pid, unix.RLIMIT_CORE, nil, &limit); err != nil {
			return err
		}
		return unix.Prlimit(pid, unix.RLIMIT_CORE, &limit, nil)
	},
	"its files": func(on string) error { return nonEmpty(os.ReadDir("/proc/" + on + "/fd/")) },
	"its descriptors": func(on string) error {
		pid, err := strconv.Atoi(on)
		if err != nil {
			return err
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(fd, 0, 0)
		return err
	},
	"memory by call": func(on string) error {
		pid, err := strconv.Atoi(on)
		if err != nil {
			return err
		}
		// It has the same program at the same address.
		buffer := make([]byte, 8)
		local := []unix.Iovec{{Base: &buffer[0], Len: 8}}
		_, err = unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&somewhere)), Len: 8}}, 0)
		return err
	},
	"userfaultfd": func(string) error { return called(unix.SYS_USERFAULTFD, 0) },
	"bpf": func(string) error {
		// An array of one element.
		attr := [32]uint32{2, 4, 4, 1}
		return called(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	},
	"perf": func(string) error {
		_, err := unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: unix.PERF_ATTR_SIZE_VER1}, 0, -1, -1, 0)
		return err
	},
	"handle": func(on string) error {
		handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, on, 0)
		if err != nil {
			return err
		}
		dir, err := unix.Open(".", unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		_, err = unix.OpenByHandleAt(dir, handle, unix.O_WRONLY)
		return err
	},
	"tcp":      func(on string) error { return dial("tcp", on) },
	"unix":     func(on string) error { return dial("unix", on) },
	"abstract": func(on string) error { return dial("unix", "@"+on) },
	"udp": func(on string) error {
		conn, err := net.Dial("udp", on)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("secret")); err != nil {
			return err
		}
		return answered(conn)
	},
	"dns": func(on string) error {
		var asked atomic.Bool
		resolver := net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			conn, err := net.Dial("udp", on)
			if err != nil {
				return nil, err
			}
			asked.Store(true)
			return conn, nil
		}}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := resolver.LookupHost(ctx, "secret.example.com.")
		if asked.Load() && err != nil && strings.Contains(err.Error(), "no such host") {
			return nil // The test's server confirms it.
		}
		return err
	},
	"vsock": func(string) error {
		fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	},
	"io_uring": func(string) error {
		var params [120]byte
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(pointer(&params)), 0)
		if errno != 0 {
			return errno
		}
		return nil
	},
	"environment": func(on string) error {
		text, err := os.ReadFile("/proc/" + on + "/environ")
		if err == nil && len(text) == 0 {
			return errors.New("it is empty")
		}
		return err
	},
	"command line": func(on string) error {
		text, err := os.ReadFile("/proc/" + on + "/cmdline")
		if err == nil && !bytes.Contains(text, []byte("test")) {
			return errors.New("it is another process")
		}
		return err
	},
	"memory": func(on string) error {
		file, err := os.Open("/proc/" + on + "/mem")
		if err == nil {
			_ = file.Close()
		}
		return err
	},
	"its root": func(on string) error { return nonEmpty(os.ReadDir("/proc/" + on + "/root/")) },
	"processes": func(string) error {
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return err
		}
		for _, e := range entries {
			if pid, err := strconv.Atoi(e.Name()); err != nil || pid == os.Getpid() {
				continue
			}
			text, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
			// The parent of this process in the sandbox is visible.
			if err == nil && bytes.Contains(text, []byte("sandbox.test")) && !bytes.Contains(text, []byte("bwrap")) {
				return nil
			}
		}
		return errors.New("the test is not among them")
	},
	"signal": func(on string) error {
		pid, err := strconv.Atoi(on)
		if err != nil {
			return err
		}
		return syscall.Kill(pid, syscall.SIGCONT)
	},
	"trace": func(on string) error {
		pid, err := strconv.Atoi(on)
		if err != nil {
			return err
		}
		return unix.PtraceSeize(pid)
	},
	"core": func(string) error {
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil || limit.Max == 0 {
			return errors.New("no core is dumped")
		}
		return nil
	},
	"big file": func(string) error {
		file, err := os.Create("big")
		if err != nil {
			return err
		}
		defer file.Close()
		return file.Truncate(65 << 30)
	},
	"oom": func(string) error {
		// Under Landlock it cannot read its own file; writing is enough.
		text, err := exec.Command("cat", "/proc/self/oom_score_adj").Output()
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(text)) != "0" {
			return fmt.Errorf("the score is %s", text)
		}
		return nil
	},
}

// called is the error of a system call.
func called(number uintptr, args ...uintptr) error {
	var a [4]uintptr
	copy(a[:], args)
	if _, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// execFile becomes an open program.
func execFile(fd int) error {
	empty, arg, env := []byte{0}, []byte("attack\x00"), []byte(attackVariable+"="+os.Getenv(attackVariable)+"\x00")
	argv, envv := []*byte{&arg[0], nil}, []*byte{&env[0], nil}
	_, _, errno := unix.Syscall6(unix.SYS_EXECVEAT, uintptr(fd), uintptr(unsafe.Pointer(&empty[0])),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envv[0])), unix.AT_EMPTY_PATH, 0)
	return errno
}

// openQueue opens a message queue of POSIX.
func openQueue(name string, flags int) error {
	text := append([]byte(name), 0)
	return called(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&text[0])), uintptr(flags), 0o600)
}

func nonEmpty(entries []os.DirEntry, err error) error {
	if err == nil && len(entries) == 0 {
		return errors.New("it is empty")
	}
	return err
}

func dial(network, address string) error {
	conn, err := net.DialTimeout(network, address, time.Minute)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

// answered waits for the answer of the test's server.
func answered(conn net.Conn) error {
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	_, err := conn.Read(make([]byte, 16))
	return err
}

// attackMain is the main function of an attacker.
func attackMain(attack string) {
	name, on, _ := strings.Cut(attack, "|")
	said := "succeeded"
	if err := attacks[name](on); err != nil {
		said = "failed: " + err.Error()
	}
	fmt.Println(said)
	// Not os.Exit, before which the race detector sleeps.
	_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
}

// attacker is another name, or a copy, of the test binary that commands can run.
func attacker(dir string) (string, error) {
	path := filepath.Join(dir, "sandbox.test")
	if exe, err := os.Executable(); err == nil && os.Link(exe, path) == nil {
		return path, nil
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, self, 0o700)
}
