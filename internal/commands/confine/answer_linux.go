package confine

import (
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// answering are the calls that a process needs to answer on what it has open: to read, write
// and accept, to wait, and to use memory, threads and time. What is not here is refused:
// opening, connecting, executing, tracing, and all that nobody thought of.
var answering = []uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_CLOSE,
	unix.SYS_ACCEPT4, unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_SHUTDOWN, unix.SYS_GETSOCKNAME, unix.SYS_GETPEERNAME, unix.SYS_GETSOCKOPT,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2,
	unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_RESTART_SYSCALL,
	unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_MREMAP, unix.SYS_BRK, unix.SYS_GETRANDOM,
	unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ,
	unix.SYS_SIGALTSTACK, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}

// Answer confines this process, all its threads and for ever: it can do nothing any more but
// answer on what it has open. It opens no file and no socket, starts no program, signals
// no other process and executes no memory that it wrote.
func Answer() error {
	p, err := answer(os.Getpid())
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return failed("seccomp", err)
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]} //nolint:gosec // A few hundred.
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno == 0 && thread != 0 {
		errno = unix.ESRCH // A thread has another filter: none of them got this one.
	}
	if errno != 0 {
		return failed("seccomp", errno)
	}
	return nil
}

// answer is the filter of Answer for the process pid.
func answer(pid int) ([]unix.SockFilter, error) {
	p, err := header()
	if err != nil {
		return nil, err
	}
	for _, call := range answering {
		p = append(p, ifEqual(call), verdict(unix.SECCOMP_RET_ALLOW))
	}
	// Without F_SETOWN and F_SETSIG: by them the kernel signals other processes.
	p = append(p, values(unix.SYS_FCNTL, 1, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_DUPFD_CLOEXEC)...)
	p = append(p, values(unix.SYS_SETSOCKOPT, 1, unix.SOL_SOCKET, unix.IPPROTO_TCP)...)
	p = append(p, values(unix.SYS_TGKILL, 0, uint32(pid))...) //nolint:gosec // A process id is positive.
	p = append(p, values(unix.SYS_KILL, 0, uint32(pid))...)   //nolint:gosec // As above.
	p = append(p, bit(unix.SYS_MMAP, 2, unix.PROT_EXEC, refuse(unix.EPERM), verdict(unix.SECCOMP_RET_ALLOW))...)
	p = append(p, bit(unix.SYS_MPROTECT, 2, unix.PROT_EXEC, refuse(unix.EPERM), verdict(unix.SECCOMP_RET_ALLOW))...)
	p = append(p, bit(unix.SYS_CLONE, 0, unix.CLONE_THREAD, verdict(unix.SECCOMP_RET_ALLOW), refuse(unix.EPERM))...)
	// Libraries do without these. The flags of clone3 lie in memory, which no filter reads.
	for _, call := range []uint32{unix.SYS_CLONE3, unix.SYS_SENDFILE, unix.SYS_SPLICE} {
		p = append(p, ifEqual(call), refuse(unix.ENOSYS))
	}
	return append(p, refuse(unix.EPERM)), nil
}

// values decides on a call: it is allowed if the low half of an argument is one of these.
func values(call uint32, argument int, allowed ...uint32) []unix.SockFilter {
	rest := []unix.SockFilter{loadArgument(argument)}
	for _, v := range allowed {
		rest = append(rest, ifEqual(v), verdict(unix.SECCOMP_RET_ALLOW))
	}
	return only(call, append(rest, refuse(unix.EPERM)))
}

// bit decides on a call by a bit of an argument's low half.
func bit(call uint32, argument int, mask uint32, set, unset unix.SockFilter) []unix.SockFilter {
	return only(call, []unix.SockFilter{
		loadArgument(argument), {Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: mask, Jf: 1}, set, unset,
	})
}

// only makes instructions, which must decide, apply to one call.
func only(call uint32, decide []unix.SockFilter) []unix.SockFilter {
	return slices.Concat([]unix.SockFilter{{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: uint8(len(decide))}}, decide) //nolint:gosec // A few.
}
