package enter

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"podd/internal/commands/confine"
	"podd/internal/commands/filelimit"
)

// members is the file by which each command joins a control group; nil if it stays in that of this process.
var members *os.File

// Join has each later command join a control group, by the file of its members. Call it before Start.
func Join(file *os.File) { members = file }

// Start starts a command with an environment. Its output and errors go to a file, and its input is
// empty. Its process leads a session of its own, ends with the command, and with its status; the
// caller waits for it. On error nothing has run.
func Start(e *Entry, env []string, output *os.File) (*os.Process, error) {
	if len(e.Spaces) != SpacesCount || len(e.Args) == 0 {
		return nil, errors.New("namespaces to enter are missing")
	}
	m := &maker{stages: &stages{}, Entry: e, env: env}
	return m.start(output, m.make)
}

// Confined starts the command of a helper's command line without the helper: its process applies the rules to
// itself, in a directory. files are the helper's descriptors from 3 on. The rest is as with Start. For any other
// command line it fails with [errors.ErrUnsupported].
func Confined(args []string, files []*os.File, dir string, env []string, output *os.File) (*os.Process, error) {
	r, argv, ok := confine.Parse(args, files)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	filter, err := r.Filter.Program()
	if err != nil {
		return nil, err
	}
	ruleset, err := rulesetSoon(r)
	if err != nil {
		return nil, err
	}
	defer unix.Close(ruleset)
	m := &maker{stages: &stages{}, Entry: &Entry{Plan: Plan{Dir: dir}, Args: argv}, env: env}
	return m.start(output, func() error {
		m.calls = &m.stages.outer
		m.call(unix.SYS_SETSID)
		m.call(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		m.call(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0)
		m.filter(filter)
		return m.execute()
	})
}

// rulesPatience is how long rules may take to make. A file system that does not answer stops whoever opens what
// is on it: the helper is a process of its own, which can be ended.
const rulesPatience = time.Second

// rulesetSoon makes rules, or fails once they take too long.
func rulesetSoon(r confine.Rules) (int, error) {
	type made struct {
		ruleset int
		err     error
	}
	done := make(chan made, 1)
	go func() {
		ruleset, err := r.Ruleset()
		done <- made{ruleset, err}
	}()
	patience := time.NewTimer(rulesPatience)
	defer patience.Stop()
	select {
	case m := <-done:
		return m.ruleset, m.err
	case <-patience.C:
	}
	go func() {
		if m := <-done; m.err == nil {
			_ = unix.Close(m.ruleset)
		}
	}()
	return 0, errors.New("a file system does not answer")
}

// start makes a list of system calls and lets new processes make them.
func (m *maker) start(output *os.File, list func() error) (*os.Process, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	defer unix.Close(pipe[0])
	m.pipe, m.output, m.null = uintptr(pipe[1]), output.Fd(), null.Fd()
	if members != nil {
		m.calls = &m.stages.outer
		m.call(unix.SYS_WRITE, members.Fd(), m.text("0"), 1).may = true
	}
	err = list()
	var outer uintptr
	if err == nil {
		var errno syscall.Errno
		if outer, errno = m.stages.fork(); errno != 0 {
			err = errno
		}
	}
	_ = unix.Close(pipe[1])
	runtime.KeepAlive(m)
	if err != nil {
		return nil, err
	}
	first, err := m.hear(pipe[0])
	if err == nil && m.stages.first == nil {
		return os.FindProcess(int(outer))
	}
	if m.stages.first == nil {
		// It has ended, unless the pipe could not be read.
		_ = unix.Kill(int(outer), unix.SIGKILL)
	}
	reap(int(outer))
	if err == nil && first == 0 {
		err = errors.New("the first process of its namespaces has ended")
	}
	if err != nil {
		if first != 0 {
			reap(first)
		}
		return nil, err
	}
	return os.FindProcess(first)
}

// reap waits for a child's end.
func reap(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}

// maker puts the system calls together.
type maker struct {
	*stages
	*Entry
	env          []string
	output, null uintptr
	// kept is the memory that the calls refer to.
	kept  []any
	calls *[]call
}

// hear reads what the processes say until the command has begun.
func (m *maker) hear(pipe int) (first int, err error) {
	var said [3]uintptr
	for {
		n, failed := unix.Read(pipe, unsafe.Slice((*byte)(unsafe.Pointer(&said)), saidBytes))
		switch {
		case failed == unix.EINTR:
		case failed != nil:
			return first, failed
		case n < int(saidBytes):
			return first, err
		case said[0] == saidFirst:
			first = int(said[1])
		default:
			err = fmt.Errorf("step %d of entering its namespaces: %w", said[1], syscall.Errno(said[2]))
		}
	}
}

func (m *maker) make() error {
	filter, err := confine.AllowLocal.Program()
	if err != nil {
		return err
	}
	m.calls = &m.stages.outer
	m.enterSpaces()
	m.calls = &m.stages.first
	m.closeOthers()
	m.call(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0)
	m.call(unix.SYS_SETSID)
	if err := m.mount(); err != nil {
		return err
	}
	if m.Plan.Nested {
		m.call(unix.SYS_SETNS, m.Spaces[2].Fd(), unix.CLONE_NEWUSER)
	}
	m.giveUp(filter)
	if m.Plan.Dies {
		// A change of privileges would undo it.
		m.call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL))
	}
	m.calls = &m.stages.rest
	m.call(unix.SYS_CLOSE_RANGE, 0, uintptr(^uint32(0)), 0)
	m.calls = &m.stages.command
	return m.execute()
}

func (m *maker) call(number uintptr, args ...uintptr) *call {
	c := call{number: number}
	copy(c.args[:], args)
	*m.calls = append(*m.calls, c)
	return &(*m.calls)[len(*m.calls)-1]
}

// text is the address of a text that ends with a NUL; requests to the shim have no other NUL.
func (m *maker) text(s string) uintptr {
	b := append([]byte(s), 0)
	m.kept = append(m.kept, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// texts is the address of a list of texts.
func (m *maker) texts(list []string) uintptr {
	addresses := make([]uintptr, len(list)+1)
	for i, s := range list {
		addresses[i] = m.text(s)
	}
	m.kept = append(m.kept, addresses)
	return uintptr(unsafe.Pointer(&addresses[0]))
}

// enterSpaces enters the prepared namespaces and makes the command's own.
func (m *maker) enterSpaces() {
	m.call(unix.SYS_SETNS, m.Spaces[0].Fd(), unix.CLONE_NEWUSER)
	m.call(unix.SYS_SETNS, m.Spaces[1].Fd(), unix.CLONE_NEWNS)
	own := unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	if m.Plan.Network {
		own |= unix.CLONE_NEWNET
	}
	m.call(unix.SYS_UNSHARE, uintptr(own))
	if !m.Plan.Network {
		return
	}
	loopback := &[ifreqBytes]byte{}
	copy(loopback[:], "lo")
	*(*uint16)(unsafe.Pointer(&loopback[unix.IFNAMSIZ])) = unix.IFF_UP | unix.IFF_RUNNING
	m.kept = append(m.kept, loopback)
	m.call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0).keep = 1
	up := m.call(unix.SYS_IOCTL, 0, unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(loopback)))
	up.use, up.slot = 1, 1
	done := m.call(unix.SYS_CLOSE, 0)
	done.use, done.slot = 1, 1
}

// closeOthers closes what the first process does not need: descriptors of other commands are open
// there, some of them locks.
func (m *maker) closeOthers() {
	needed := []uintptr{m.null, m.output, m.pipe}
	if m.Plan.Nested {
		needed = append(needed, m.Spaces[2].Fd())
	}
	slices.Sort(needed)
	next := uintptr(0)
	for _, fd := range needed {
		if fd > next {
			m.call(unix.SYS_CLOSE_RANGE, next, fd-1, 0)
		}
		next = fd + 1
	}
	m.call(unix.SYS_CLOSE_RANGE, next, uintptr(^uint32(0)), 0)
}

// ifreqBytes is the size of struct ifreq.
const ifreqBytes = 40

// readOnlyProc are parts of /proc that bwrap makes read-only where root could write them.
var readOnlyProc = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"}

// mount makes the mounts that no two commands share.
func (m *maker) mount() error {
	const quiet = unix.MS_NOSUID | unix.MS_NODEV
	at := unix.AT_FDCWD
	cwd := uintptr(at)
	m.call(unix.SYS_UMASK, 0).keep = maxSlots
	m.call(unix.SYS_MOUNT, m.text("proc"), m.text("/proc"), m.text("proc"), quiet|unix.MS_NOEXEC, 0)
	if os.Geteuid() == 0 {
		for _, path := range readOnlyProc {
			if _, err := os.Stat(path); err == nil {
				p := m.text(path)
				m.call(unix.SYS_MOUNT, p, p, 0, unix.MS_BIND, 0)
				m.call(unix.SYS_MOUNT, 0, p, 0, unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|quiet|unix.MS_NOEXEC, 0)
			}
		}
	}
	m.call(unix.SYS_MOUNT, m.text("devpts"), m.text("/dev/pts"), m.text("devpts"), unix.MS_NOSUID|unix.MS_NOEXEC,
		m.text("newinstance,ptmxmode=0666,mode=620"))
	slots := map[string]int{}
	for _, change := range m.Plan.Mounts {
		if change.Kind != Keep {
			continue
		}
		if len(slots) == maxSlots-1 {
			return errors.New("more is kept than can be")
		}
		slots[change.Path] = len(slots) + 1
		m.call(unix.SYS_OPEN_TREE, cwd, m.text(change.Path), unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE).keep = len(slots)
	}
	for _, change := range m.Plan.Mounts {
		m.makeWay(change)
		if change.Kind == Nothing {
			continue
		}
		if change.Kind == Keep {
			moved := m.call(unix.SYS_MOVE_MOUNT, 0, m.text(""), cwd, m.text(change.Path), unix.MOVE_MOUNT_F_EMPTY_PATH)
			moved.use, moved.slot = 1, slots[change.Path]
			continue
		}
		options := "mode=0755"
		if change.Size > 0 {
			options += ",size=" + strconv.FormatInt(change.Size, 10)
		}
		m.call(unix.SYS_MOUNT, m.text("tmpfs"), m.text(change.Path), m.text("tmpfs"), quiet, m.text(options))
	}
	umask := m.call(unix.SYS_UMASK, 0)
	umask.use, umask.slot = 1, maxSlots
	return nil
}

// makeWay makes what is needed in an empty directory to mount something there.
func (m *maker) makeWay(change Mount) {
	rest, below := strings.CutPrefix(change.Path, change.Below+"/")
	if change.Below == "" || !below {
		return
	}
	at := unix.AT_FDCWD
	path := change.Below
	names := strings.Split(rest, "/")
	for i, name := range names {
		path = filepath.Join(path, name)
		if change.File && i == len(names)-1 {
			m.call(unix.SYS_MKNODAT, uintptr(at), m.text(path), unix.S_IFREG|0o444, 0).may = true
		} else {
			m.call(unix.SYS_MKDIRAT, uintptr(at), m.text(path), 0o755).may = true
		}
	}
}

// lastCapability is above all that kernels know.
const lastCapability = 63

// giveUp takes all privileges from the first process and from the command, and filters their
// system calls.
func (m *maker) giveUp(filter []unix.SockFilter) {
	m.call(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	for c := range uintptr(lastCapability + 1) {
		// A kernel without it says so.
		m.call(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0).may = c > unix.CAP_LAST_CAP
	}
	m.call(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	head, none := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &[2]unix.CapUserData{}
	m.kept = append(m.kept, head, none)
	m.call(unix.SYS_CAPSET, uintptr(unsafe.Pointer(head)), uintptr(unsafe.Pointer(none)))
	m.filter(filter)
}

// filter filters system calls.
func (m *maker) filter(filter []unix.SockFilter) {
	program := &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	m.kept = append(m.kept, program, filter)
	m.call(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(program)), 0, 0)
}

// execute makes the command of its process.
func (m *maker) execute() error {
	if m.output <= 2 || m.null <= 2 {
		return errors.New("the standard files are closed")
	}
	var now unix.Rlimit
	limit := filelimit.AtStart()
	// Go raises the soft limit up to the hard one, or to one less. Any other limit was set on purpose.
	if limit != nil && unix.Getrlimit(unix.RLIMIT_NOFILE, &now) == nil && now.Max == limit[1] && now.Cur >= now.Max-1 {
		m.call(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, uintptr(unsafe.Pointer(limit)), 0).may = true
	}
	m.call(unix.SYS_CHDIR, m.text(m.Plan.Dir))
	m.call(unix.SYS_DUP3, m.null, 0, 0)
	m.call(unix.SYS_DUP3, m.output, 1, 0)
	m.call(unix.SYS_DUP3, m.output, 2, 0)
	m.call(unix.SYS_CLOSE_RANGE, 3, uintptr(^uint32(0)), unix.CLOSE_RANGE_CLOEXEC)
	// If a variable occurs twice, the last one counts, as with os/exec.
	env := (&exec.Cmd{Env: m.env}).Environ()
	m.call(unix.SYS_EXECVE, m.text(m.Args[0]), m.texts(m.Args), m.texts(env))
	return nil
}
