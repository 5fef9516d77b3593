package process

import (
	"bytes"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// inspect says when a process started and whether it still runs. born is empty when the
// process does not exist. A zombie does not run; its parent may never reap it.
func inspect(pid int) (born string, runs bool) {
	fields := statOf(pid)
	if len(fields) <= startTime {
		return "", false
	}
	return when(fields), fields[0] != "Z" && fields[0] != "X"
}

// startTime is the index of the start time in a result of statOf.
const startTime = 22 - 3

// when returns the start time from a result of statOf. The field counts clock ticks since
// boot, so another boot can repeat it.
func when(fields []string) string { return Boot() + "-" + fields[startTime] }

// statOf is /proc/PID/stat from its third field on: state, ppid, pgrp, session. The
// second field, a name, may contain anything.
func statOf(pid int) []string {
	stat, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// Boot differs between any two boots of any two machines; empty if the system does not say.
var Boot = sync.OnceValue(func() string {
	id, _ := readProc("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// readProc is os.ReadFile for /proc, where each command reads many files. It skips the
// calls that find out whether a file can be polled.
func readProc(path string) (text []byte, err error) {
	fd, err := uninterrupted(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	for text = make([]byte, 0, 1024); ; {
		n, err := uninterrupted(func() (int, error) { return unix.Read(fd, text[len(text):cap(text)]) })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return text, nil
		}
		if text = text[:len(text)+n]; len(text) == cap(text) {
			text = append(text, make([]byte, cap(text))...)[:len(text)]
		}
	}
}

func uninterrupted(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
