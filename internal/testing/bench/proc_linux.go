package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpu is the processor time that a process, its children and theirs have used.
func cpu(pid int) (total time.Duration, err error) {
	for _, member := range family(pid) {
		used, err := cpuOf(member)
		if err != nil && member != pid {
			continue // It has ended; its parent's times include it.
		}
		if err != nil {
			return 0, err
		}
		total += used
	}
	return total, nil
}

// family is a process and all below it.
func family(pid int) []int {
	members := []int{pid}
	// The children of a process are those of its threads; proc_pid_task(5).
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				members = append(members, family(child)...)
			}
		}
	}
	return members
}

// cpuOf is the processor time of one process and its ended children.
func cpuOf(pid int) (time.Duration, error) {
	// The clock of all threads of another process; clock_getcpuclockid(3).
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &ts); err != nil {
		return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The fields after the name, which may contain any characters; proc_pid_stat(5).
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const childUser, childSystem, tick = 13, 14, 10 * time.Millisecond
	total := time.Duration(ts.Nano())
	for _, i := range []int{childUser, childSystem} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(n) * tick
	}
	return total, nil
}

// memory is what a process, its children and theirs have in RAM, and the part without a
// file behind it, in bytes.
func memory(pid int) (rss, anonymous int64, err error) {
	for _, member := range family(pid) {
		r, a, err := memoryOf(member)
		if err != nil {
			return 0, 0, err
		}
		rss, anonymous = rss+r, anonymous+a
	}
	return rss, anonymous, nil
}

func memoryOf(pid int) (rss, anonymous int64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			rss = n << 10
		case "RssAnon":
			anonymous = n << 10
		}
	}
	return rss, anonymous, nil
}
