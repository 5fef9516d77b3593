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
)

// fewPids is how many pids are looked at one by one rather than by listing /proc.
const fewPids = 64

// members lists the live processes of the command.
func (t *Tree) members() []int {
	pids, err := t.candidates()
	if err != nil {
		// No /proc: the group is all that can be seen.
		if t.groupAlive() {
			return []int{t.id.PID}
		}
		return nil
	}
	return slices.DeleteFunc(pids, func(pid int) bool { return !t.owns(pid) })
}

// candidates are the pids that a member can have. What a command starts has a higher one
// than its leader, until pids wrap around, so that after a command that started nothing
// there is nothing to look at.
func (t *Tree) candidates() (pids []int, err error) {
	leader := t.id.PID
	last, err := lastPid()
	switch {
	case err != nil:
		return nil, err
	case last < leader:
		return allPids(), nil
	case last-leader < fewPids:
		for pid := leader; pid <= last; pid++ {
			pids = append(pids, pid)
		}
	default:
		pids = slices.DeleteFunc(allPids(), func(pid int) bool { return pid < leader })
	}
	for _, pid := range t.seen.pids() {
		if !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// owns says whether a live process belongs to the command: it is in its session
// or group, carries its mark, or was seen below its leader.
func (t *Tree) owns(pid int) bool {
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
	// Nobody joins a session: who is in that of another command is of that command.
	if _, other := leaders.Load(fields[3]); other {
		return false
	}
	return slices.Contains(environOf(pid), t.id.Mark)
}

// How often, and after which pause, an environment that reads as empty is read again.
const (
	environTries = 20
	environPause = 500 * time.Microsecond
)

// environOf is the environment of a process; none when it can't be read. It reads as
// empty, or not at all, while the process is in the middle of an exec: then it is
// read again, unless the process ends.
func environOf(pid int) []string {
	for try := range environTries {
		if try > 0 {
			if fields := statOf(pid); len(fields) == 0 || fields[0] == "Z" || fields[0] == "X" {
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

// lastPid is the pid that was given out last.
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
