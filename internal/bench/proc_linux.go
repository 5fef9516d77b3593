package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpu is the processor time that a process and its ended children have used.
func cpu(pid int) (time.Duration, error) {
	// The clock of all threads of another process; clock_getcpuclockid(3).
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &ts); err != nil {
		return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The fields after the name, which may hold anything; proc_pid_stat(5).
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

// memory is what a process has in RAM, and the part that no file backs, in bytes.
func memory(pid int) (rss, anonymous int64, err error) {
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
