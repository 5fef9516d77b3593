package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// What one command may take, whatever the sandbox.
const (
	// moreProcesses is how many processes and threads of the user there may be beyond all
	// that the machine runs when the command starts. The kernel holds nobody who is root
	// to it.
	moreProcesses = 4096
	// maxFileBytes is the largest file.
	maxFileBytes = 64 << 30
	// oomScore makes the kernel end a command before podd when memory runs out.
	oomScore = 500
)

// Limit bounds what a process and all that it will start can take. It is for a process
// that has started nothing yet.
func (s *Sandbox) Limit(pid int) error {
	if s.Mode() == None && s.Config.Mode == Off {
		return nil
	}
	var errs []error
	bound := func(resource int, limit uint64) {
		var now unix.Rlimit
		if err := unix.Prlimit(pid, resource, nil, &now); err != nil {
			errs = append(errs, err)
			return
		}
		limit = min(limit, now.Max)
		errs = append(errs, unix.Prlimit(pid, resource, &unix.Rlimit{Cur: min(limit, now.Cur), Max: limit}, nil))
	}
	bound(unix.RLIMIT_CORE, 0)
	bound(unix.RLIMIT_FSIZE, maxFileBytes)
	bound(unix.RLIMIT_NPROC, tasks()+moreProcesses)
	errs = append(errs, os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(strconv.Itoa(oomScore)), 0))
	return errors.Join(errs...)
}

// tasks is how many processes and threads the machine runs.
func tasks() uint64 {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	// 0.00 0.00 0.00 runnable/all last
	_, rest, _ := strings.Cut(string(load), "/")
	all, _, _ := strings.Cut(rest, " ")
	n, _ := strconv.ParseUint(all, 10, 32)
	return n
}

// memory is how much memory podd may use, in bytes: the machine's, or what a container or
// service is given of it; 0 when that is not known.
func memory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	all := int64(info.Totalram) * int64(info.Unit)
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		for ; ok && path != "."; path = filepath.Dir(path) {
			text, _ := os.ReadFile(filepath.Join("/sys/fs/cgroup", path, "memory.max"))
			if given, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && given > 0 {
				all = min(all, given)
			}
			ok = path != "/"
		}
	}
	return all
}
