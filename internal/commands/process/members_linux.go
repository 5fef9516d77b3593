package process

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// fewPids is up to how many process ids candidates tries one by one instead of listing
// /proc.
const fewPids = 64

// youngTicks is the age of a leader, in clock ticks, up to which process ids cannot have
// wrapped around past its own: half a second.
const youngTicks = 50

// members lists the live processes of the command.
func (t *Tree) members() []int {
	pids, err := t.candidates()
	if err != nil {
		// Without /proc only the group is visible.
		if t.groupAlive() {
			return []int{t.id.PID}
		}
		return nil
	}
	return slices.DeleteFunc(pids, func(pid int) bool { return !t.owns(pid) })
}

// candidates are the process ids that a member can have. What a command starts has a
// higher id than its leader, until ids wrap around; then only the start time tells them
// apart. After a short command that started nothing there is nothing to look at.
func (t *Tree) candidates() (pids []int, err error) {
	leader := t.id.PID
	last, err := lastPid()
	switch {
	case err != nil:
		return nil, err
	case last >= leader && last-leader < fewPids && t.young():
		for pid := leader; pid <= last; pid++ {
			pids = append(pids, pid)
		}
	default:
		pids = slices.DeleteFunc(allPids(), func(pid int) bool { return pid < leader && t.before(statOf(pid)) })
	}
	for _, pid := range t.seen.pids() {
		if !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// born is when the leader started, in clock ticks since boot; ok is false when that is
// unknown.
func (t *Tree) born() (ticks int64, ok bool) {
	text, ok := strings.CutPrefix(t.id.Born, Boot()+"-")
	if !ok {
		return 0, false
	}
	ticks, err := strconv.ParseInt(text, 10, 64)
	return ticks, err == nil
}

// young says whether the leader started just now.
func (t *Tree) young() bool {
	born, ok := t.born()
	var now unix.Timespec
	if !ok || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return false
	}
	const ticksPerSecond = 100 // USER_HZ, on all of podd's platforms.
	return now.Sec*ticksPerSecond+now.Nsec/(1e9/ticksPerSecond)-born < youngTicks
}

// before says whether a process with a lower id than the leader's started before it, so
// that it is not part of the tree; fields are from statOf. A leader with an unknown start
// time is assumed to be the first process of all.
func (t *Tree) before(fields []string) bool {
	born, ok := t.born()
	if !ok || len(fields) <= startTime {
		return true
	}
	started, err := strconv.ParseInt(fields[startTime], 10, 64)
	return err != nil || started < born
}

// owns says whether a live process belongs to the command: it is in the command's session
// or group, carries its mark, or was seen below its leader.
func (t *Tree) owns(pid int) bool {
	if pid != t.id.PID && leads(strconv.Itoa(pid)) {
		return false
	}
	// Most have ended, which costs less to ask than to read.
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return false
	}
	fields := statOf(pid)
	if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
		return false
	}
	if t.seen.has(pid, fields) {
		return true
	}
	leader := strconv.Itoa(t.id.PID)
	if (fields[2] == leader || fields[3] == leader) && !t.recycled() {
		return true
	}
	// A process cannot join a session: every process in another leader's session belongs to
	// that leader.
	if leads(fields[3]) {
		return false
	}
	return slices.Contains(environOf(pid), t.id.Mark)
}

// How often, and after which pause, environOf retries when an environment reads as empty.
const (
	environTries = 20
	environPause = 500 * time.Microsecond
)

// environOf is the environment of a process; empty when it cannot be read. In the middle
// of an exec it reads as empty, or not at all. environOf then retries, unless the process
// ends or has none.
func environOf(pid int) []string {
	without := 0
	for try := range environTries {
		if try > 0 {
			fields := statOf(pid)
			if len(fields) == 0 || fields[0] == "Z" || fields[0] == "X" {
				return nil
			}
			// An exec sets both ends of the environment to its start for a moment.
			if hasNone(fields) {
				without++
			}
			if without == 2 {
				return nil
			}
			time.Sleep(environPause)
		}
		environ, err := readProc("/proc/" + strconv.Itoa(pid) + "/environ")
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err == nil && len(environ) > 0 {
			return strings.Split(string(environ), "\x00")
		}
	}
	return nil
}

// exiting and kernelThread are PF_EXITING and PF_KTHREAD of linux/sched.h, bits of a process's flags.
const exiting, kernelThread = 0x00000004, 0x00200000

// flagsOf are a process's flags; fields are from statOf.
func flagsOf(fields []string) uint64 {
	bits, _ := strconv.ParseUint(fields[9-3], 10, 64)
	return bits
}

// runs says whether a process is there and is not ending.
func runs(pid int) bool {
	fields := statOf(pid)
	return len(fields) > startTime && flagsOf(fields)&exiting == 0
}

// hasNone says whether a process seems to have no environment: a kernel thread, or one that
// was started with an empty one. fields are from statOf; a number of proc_pid_stat(5) is
// that of the man page.
func hasNone(fields []string) bool {
	const envStart, envEnd = 50 - 3, 51 - 3
	if len(fields) <= envEnd {
		return false
	}
	return flagsOf(fields)&kernelThread != 0 || fields[envEnd] != "0" && fields[envStart] == fields[envEnd]
}

// lastPid is the process id that the kernel assigned last.
func lastPid() (int, error) {
	load, err := readProc("/proc/loadavg")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(load[bytes.LastIndexByte(bytes.TrimSpace(load), ' ')+1:])))
}

func allPids() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
