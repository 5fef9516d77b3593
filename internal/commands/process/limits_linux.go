package process

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Apply limits a process that has started nothing yet.
func (l Limits) Apply(pid int) error {
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
	if l.NoCore {
		bound(unix.RLIMIT_CORE, 0)
	}
	if l.FileBytes > 0 {
		bound(unix.RLIMIT_FSIZE, l.FileBytes)
	}
	if l.Tasks > 0 {
		bound(unix.RLIMIT_NPROC, l.Tasks)
	}
	if l.OOMScore > 0 {
		errs = append(errs, os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(strconv.Itoa(l.OOMScore)), 0))
	}
	if l.Group != "" {
		errs = append(errs, os.WriteFile(filepath.Join(l.Group, GroupMembers), []byte(strconv.Itoa(pid)), 0))
	}
	return errors.Join(errs...)
}
