package confine

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Argument makes a program that calls Main the helper.
const Argument = "__sandbox"

// errHelper is for a helper that podd did not start.
var errHelper = errors.New("the sandbox's helper is started by podd alone")

// Main is the helper if this process was started as one: it confines itself and becomes its
// command. Otherwise it keeps the files that this process was started with from commands
// that it will start, and returns. Call it first in main, before anything is opened.
func Main() {
	if len(os.Args) < 2 || os.Args[1] != Argument {
		// Kernels before 5.11 cannot, and usually no files are passed.
		_ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
		return
	}
	err := help(os.Args[2:])
	_, _ = os.Stderr.WriteString("podd: the command was not run because it could not be confined: " + err.Error() + "\n")
	os.Exit(126)
}

// help does not return if it succeeds. The thread that it confines becomes the command.
func help(args []string) error {
	r, argv, err := parse(args)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	ruleset, err := r.ruleset()
	if err != nil {
		return failed("landlock", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return failed("landlock", errno)
	}
	if err := filterCalls(r.Filter); err != nil {
		return failed("seccomp", err)
	}
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	return unix.Exec(argv[0], argv, os.Environ())
}

// failed names what failed.
func failed(what string, err error) error { return errors.New(what + ": " + err.Error()) }

// ruleset makes the Landlock rules.
func (r Rules) ruleset() (int, error) {
	abi := Version()
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled(abi)}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	// A kernel with fewer fields wants the others to be zero, which they are.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return 0, errno
	}
	ruleset := int(fd)
	for _, path := range r.Read {
		if err := allowPath(ruleset, path, readAccess); err != nil {
			return 0, err
		}
	}
	for _, path := range r.Devices {
		if err := allowPath(ruleset, path, readAccess|unix.LANDLOCK_ACCESS_FS_WRITE_FILE|(attr.Handled_access_fs&unix.LANDLOCK_ACCESS_FS_IOCTL_DEV)); err != nil {
			return 0, err
		}
	}
	for _, open := range r.ReadOpen {
		if err := allowOpen(ruleset, open, readAccess); err != nil {
			return 0, err
		}
	}
	for _, open := range r.WriteOpen {
		if err := allowOpen(ruleset, open, attr.Handled_access_fs); err != nil {
			return 0, err
		}
	}
	return ruleset, nil
}

// handled is everything about files that a version of Landlock can refuse.
func handled(abi int) uint64 {
	all := uint64(unix.LANDLOCK_ACCESS_FS_TRUNCATE)<<1 - 1
	if abi >= 5 {
		all |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return all
}

// allowPath allows access to a path and everything below it; one that is missing or does not work needs no rule.
func allowPath(ruleset int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	for err == unix.EINTR {
		fd, err = unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	switch err {
	case nil:
	case unix.EMFILE, unix.ENFILE, unix.ENOMEM:
		return err
	default:
		return nil
	}
	defer unix.Close(fd)
	return allow(ruleset, fd, access)
}

func allowOpen(ruleset int, open string, access uint64) error {
	fd, err := strconv.Atoi(open)
	if err != nil {
		return errHelper
	}
	return allow(ruleset, fd, access)
}

func allow(ruleset, fd int, access uint64) error {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fileAccess
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// filterCalls applies a filter of system calls to the thread.
func filterCalls(filter Filter) error {
	p, err := filter.Program()
	if err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
}
