package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
)

// look says when a process started and whether it still runs; born is empty when there
// is none. A zombie, which nobody may ever wait for, does not run.
func look(pid int) (born string, runs bool) {
	fields := statOf(pid)
	// The 22nd field counts clock ticks from the boot on, which another boot can repeat.
	const startTime = 22 - 3
	if len(fields) <= startTime {
		return "", false
	}
	return bootID() + "-" + fields[startTime], fields[0] != "Z" && fields[0] != "X"
}

// statOf is /proc/PID/stat from its third field on: state, ppid, pgrp, session. The
// second, a name, may hold anything.
func statOf(pid int) []string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// bootID is unlike that of any other boot.
var bootID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})
