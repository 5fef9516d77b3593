package enter

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What runs between a clone and an execve has one thread, and Go's runtime does not work there:
// it only makes system calls that were put together before, and does not grow the stack.
//
// The outer process and the command use the memory of their parent, which waits: a copy of the
// shim's memory costs more than all else in a start. Only the first process gets a copy, because
// it lives as long as the command.

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// call is one system call.
type call struct {
	number uintptr
	args   [5]uintptr
	// use names the argument, from 1, that a slot's result replaces; 0 means none.
	use, slot int
	// keep is the slot, from 1, of the result; 0 keeps none.
	keep int
	// may says that the call may fail.
	may bool
}

// stages are what the processes of a command do. Its memory outlives them. Without a first process, the outer
// one becomes the command.
type stages struct {
	outer, first, command []call
	// rest is what the first process does once the command has started.
	rest  []call
	slots [maxSlots]uintptr
	// said is what is written to the pipe, with one system call.
	said [3]uintptr
	pipe uintptr
}

// maxSlots bounds the results that are kept at once.
const maxSlots = 32

// What a process writes to the pipe: its kind, and a process id, or the number of a call and its
// error.
const (
	saidBytes = 3 * unsafe.Sizeof(uintptr(0))
	saidFirst = 1
	saidError = 2
)

// Exit statuses of a process that fails before the command.
const failedStatus = 127

// fork starts the processes. The pid is that of the outer one.
//
//go:noinline
//go:norace
func (s *stages) fork() (pid uintptr, errno syscall.Errno) {
	syscall.ForkLock.Lock()
	beforeFork()
	pid, errno = s.clone()
	afterFork()
	syscall.ForkLock.Unlock()
	return pid, errno
}

// clone returns in the caller's process alone, and there at once: the child has used the stack
// below.
//
//go:noinline
//go:norace
//go:nosplit
func (s *stages) clone() (pid uintptr, errno syscall.Errno) {
	pid, errno = vfork()
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	afterForkInChild()
	s.run(s.outer, 0)
	// The parent of the first process is this process's own, so that it learns its status.
	first, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD|unix.CLONE_PARENT), 0, 0, 0, 0, 0)
	if errno != 0 {
		s.fail(uintptr(len(s.outer)), errno)
	}
	if first != 0 {
		s.said[0], s.said[1] = saidFirst, first
		s.tell()
		exit(0)
	}
	s.begin()
	return 0, 0
}

// begin is the first process in the new namespace of processes.
//
//go:noinline
//go:norace
//go:nosplit
func (s *stages) begin() {
	s.run(s.first, 100)
	command, errno := s.become()
	if errno != 0 {
		s.fail(199, errno)
	}
	s.run(s.rest, 300)
	for {
		var status uint32
		pid, _, errno := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)), 0, 0, 0, 0)
		if errno != 0 && errno != unix.EINTR {
			exit(failedStatus)
		}
		if errno == 0 && pid == command {
			if signal := status & 0x7f; signal != 0 {
				exit(128 + uintptr(signal))
			}
			exit(uintptr(status>>8) & 0xff)
		}
	}
}

// become starts the command, and returns in the first process alone, like clone.
//
//go:noinline
//go:norace
//go:nosplit
func (s *stages) become() (pid uintptr, errno syscall.Errno) {
	pid, errno = vfork()
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	s.run(s.command, 200)
	exit(failedStatus)
	return 0, 0
}

// run makes system calls. first is the number of the first in messages.
//
//go:noinline
//go:norace
//go:nosplit
func (s *stages) run(calls []call, first uintptr) {
	for i := range calls {
		c := &calls[i]
		if c.use > 0 {
			c.args[c.use-1] = s.slots[c.slot-1]
		}
		result, _, errno := syscall.RawSyscall6(c.number, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], 0)
		if errno != 0 && !c.may {
			s.fail(first+uintptr(i), errno)
		}
		if c.keep > 0 {
			s.slots[c.keep-1] = result
		}
	}
}

// fail reports a call that failed, and ends the process.
//
//go:noinline
//go:norace
//go:nosplit
func (s *stages) fail(number uintptr, errno syscall.Errno) {
	s.said[0], s.said[1], s.said[2] = saidError, number, uintptr(errno)
	s.tell()
	exit(failedStatus)
}

//go:noinline
//go:norace
//go:nosplit
func (s *stages) tell() {
	_, _, _ = syscall.RawSyscall6(unix.SYS_WRITE, s.pipe, uintptr(unsafe.Pointer(&s.said)), saidBytes, 0, 0, 0)
}

//go:noinline
//go:norace
//go:nosplit
func exit(status uintptr) {
	for {
		_, _, _ = syscall.RawSyscall6(unix.SYS_EXIT_GROUP, status, 0, 0, 0, 0, 0)
	}
}
