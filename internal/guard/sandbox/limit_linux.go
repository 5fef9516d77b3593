package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"podd/internal/commands/process"
)

// Limits of one command, whatever the sandbox.
const (
	// moreTasks is how many processes and threads of the user there may be, at least, beyond
	// those that the machine runs when the command starts.
	moreTasks = 4096
	// maxFileBytes is the largest file.
	maxFileBytes = 64 << 30
	// oomScore makes the kernel end a command before podd when memory runs out.
	oomScore = 500
)

// Limits are the limits of one command, whatever the sandbox.
func (s *Sandbox) Limits() process.Limits {
	if s.Mode() == None && s.Config.Mode == Off {
		return process.Limits{}
	}
	// Rounded, so that they do not change often.
	allowed := (tasks()/moreTasks + 2) * moreTasks
	return process.Limits{NoCore: true, FileBytes: maxFileBytes, Tasks: allowed, OOMScore: oomScore}
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

// memory is how much memory podd may use, in bytes: the machine's, or the limit of its
// container or service; 0 if unknown.
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
