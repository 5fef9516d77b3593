package sandbox_test

import (
	"path/filepath"
	"strconv"
	"unsafe"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// What a user's session has besides files and sockets.

// terminal is the name of a terminal of the user.
func (h *house) terminal() string {
	h.t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _, _ = master.Close(), slave.Close() })
	return slave.Name()
}

// key is the name of a key in the session's ring; the machine may have none.
func (h *house) key() string {
	name := "podd-test-" + filepath.Base(h.base)
	if id, err := unix.AddKey("user", name, []byte("secret"), unix.KEY_SPEC_SESSION_KEYRING); err == nil {
		h.t.Cleanup(func() { _, _ = unix.KeyctlInt(unix.KEYCTL_INVALIDATE, id, 0, 0, 0) })
	}
	return name
}

// segment is the number of a segment of System V's shared memory.
func (h *house) segment() string {
	h.t.Helper()
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	return strconv.Itoa(id)
}

// queue is the name of a message queue of POSIX.
func (h *house) queue() string {
	h.t.Helper()
	name := filepath.Base(h.base)
	if err := openQueue(name, unix.O_CREAT); err != nil {
		h.t.Fatal(err)
	}
	text := append([]byte(name), 0)
	h.t.Cleanup(func() { _ = called(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(&text[0]))) })
	return name
}
