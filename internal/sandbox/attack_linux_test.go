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

	"golang.org/x/sys/unix"
)

// attackVariable makes the test binary carry out an attack: its name and what it is on.
const attackVariable = "PODD_TEST_ATTACK"

// attacks are what a command tries. Each returns nil when it did what it should not.
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
		if err := unix.Unshare(unix.CLONE_NEWUSER | unix.CLONE_NEWNS); err != nil {
			return err
		}
		return unix.Mount(on, ".", "", unix.MS_BIND, "")
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
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := resolver.LookupHost(ctx, "secret.example.com.")
		if asked.Load() && err != nil && strings.Contains(err.Error(), "no such host") {
			return nil // The test's server says so, and was told the name.
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
			// What started this process in the sandbox can be seen.
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
		// Its own file is not to be read under Landlock; writing needs no more.
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

func nonEmpty(entries []os.DirEntry, err error) error {
	if err == nil && len(entries) == 0 {
		return errors.New("it is empty")
	}
	return err
}

func dial(network, address string) error {
	conn, err := net.DialTimeout(network, address, time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

// answered waits for the answer of the test's server.
func answered(conn net.Conn) error {
	if err := conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
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
