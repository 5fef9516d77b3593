package confine

import (
	"errors"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// Filter is a filter of system calls. All refuse socket families that a network namespace
// does not confine, vsock above all, and io_uring, which creates sockets without a system
// call. They refuse keys of the user's session and files by handle, which no namespace
// and no path rule confines, and calls that are common in kernel exploits and that no
// build or test needs. They also refuse the calls of another architecture, where the
// numbers mean something else: 32-bit programs do not run.
type Filter int

// The filters.
const (
	// AllowLocal is for a command with its own network namespace.
	AllowLocal Filter = iota
	// AllowInternet is for one without, which may reach the network.
	AllowInternet
	// AllowNothing is for one without, which may not.
	AllowNothing
	// AllowReading is AllowNothing for a command that must change nothing: Landlock has no
	// right for modes, owners, times and attributes of files.
	AllowReading
)

// refused are the calls that every filter refuses; refusedUnspaced those that only a
// namespace of processes or of System V's and POSIX's queues and memory confines.
var (
	refused = []uint32{
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	}
	refusedUnspaced = []uint32{
		unix.SYS_SETSID, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
		unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	}
	// refusedReading are the calls that AllowReading refuses too.
	refusedReading = []uint32{
		unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
		unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	}
	// olderCalls are those that only amd64 has: chmod, chown, lchown, utime, utimes,
	// futimesat.
	olderCalls = []uint32{90, 92, 94, 132, 235, 261}
)

// families are the socket families that a filter allows.
func families(filter Filter) []uint32 {
	switch filter {
	case AllowLocal:
		return []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	case AllowInternet:
		return []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	}
	return nil
}

// Offsets in struct seccomp_data.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArg0   = 16
)

// x32Bit marks the calls of the x32 variant, which share amd64's architecture.
const x32Bit = 0x40000000

// header is the part of every filter that refuses the calls of other architectures. What
// follows it finds the call's number loaded.
func header() ([]unix.SockFilter, error) {
	// The AUDIT_ARCH values of linux/audit.h.
	var arch uint32
	switch runtime.GOARCH {
	case "amd64":
		arch = unix.AUDIT_ARCH_X86_64
	case "arm64":
		arch = unix.AUDIT_ARCH_AARCH64
	default:
		return nil, errors.New("system calls cannot be filtered on " + runtime.GOARCH)
	}
	return []unix.SockFilter{
		load(offsetArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: arch, Jt: 1},
		refuse(unix.ENOSYS),
		load(offsetNumber),
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32Bit, Jf: 1},
		refuse(unix.ENOSYS),
	}, nil
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// loadArgument loads the low half of an argument.
func loadArgument(n int) unix.SockFilter { return load(offsetArg0 + 8*uint32(n)) } //nolint:gosec // 0 to 5.

// ifEqual runs the next instruction if the value is k, and otherwise skips it.
func ifEqual(k uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: 1}
}

func verdict(k uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}
}

func refuse(errno unix.Errno) unix.SockFilter {
	return verdict(unix.SECCOMP_RET_ERRNO | uint32(errno))
}

// Program is the filter for this machine. Without a network namespace (all but AllowLocal)
// there is no process namespace either. Then it also refuses setsid, so that the session
// shows which processes belong to a command, and setting limits of another process, which
// may be podd.
func (filter Filter) Program() ([]unix.SockFilter, error) {
	p, err := header()
	if err != nil {
		return nil, err
	}
	p = append(p,
		ifEqual(unix.SYS_IO_URING_SETUP), refuse(unix.ENOSYS),
	)
	no := refused
	if filter != AllowLocal {
		no = slices.Concat(refused, refusedUnspaced)
		if filter == AllowReading {
			no = slices.Concat(no, refusedReading)
			if runtime.GOARCH == "amd64" {
				no = slices.Concat(no, olderCalls)
			}
		}
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_PRLIMIT64, Jf: 4},
			load(offsetArg0), ifEqual(0), verdict(unix.SECCOMP_RET_ALLOW), refuse(unix.EPERM))
	}
	for _, call := range no {
		p = append(p, ifEqual(call), refuse(unix.EPERM))
	}
	p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_SOCKET, Jt: 1},
		verdict(unix.SECCOMP_RET_ALLOW), load(offsetArg0))
	for _, family := range families(filter) {
		p = append(p, ifEqual(family), verdict(unix.SECCOMP_RET_ALLOW))
	}
	return append(p, refuse(unix.EAFNOSUPPORT)), nil
}
