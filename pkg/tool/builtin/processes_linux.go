package builtin

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
)

// fewPids is how many pids are looked at one by one rather than by listing /proc.
const fewPids = 64

// members lists the live processes of the command. What a command starts has a
// higher pid than its leader, until pids wrap around, so that after a command
// that started nothing there is nothing to look at.
func (p *processes) members() []int {
	leader := p.cmd.Process.Pid
	last, err := lastPid()
	if err != nil {
		// No /proc: the group is all that can be seen.
		if p.groupAlive() {
			return []int{leader}
		}
		return nil
	}
	var found []int
	if last >= leader && last-leader < fewPids {
		for pid := leader; pid <= last; pid++ {
			if p.owns(pid) {
				found = append(found, pid)
			}
		}
		return found
	}
	for _, pid := range allPids() {
		wrapped := last < leader
		if (pid >= leader || wrapped) && p.owns(pid) {
			found = append(found, pid)
		}
	}
	return found
}

// owns says whether a live process belongs to the command: it is in its session
// or group, or carries its mark.
func (p *processes) owns(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return false
	}
	// pid (name) state ppid pgrp session ...; the name may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
		return false
	}
	leader := strconv.Itoa(p.cmd.Process.Pid)
	if fields[2] == leader || fields[3] == leader {
		return true
	}
	environ, err := os.ReadFile(dir + "/environ")
	return err == nil && slices.Contains(strings.Split(string(environ), "\x00"), p.mark)
}

// lastPid is the pid that was given out last.
func lastPid() (int, error) {
	load, err := os.ReadFile("/proc/loadavg")
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
