package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// inspect says when a process started and whether it still runs. born is empty when the
// process does not exist.
func inspect(pid int) (born string, runs bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return "", false
	}
	started := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", started.Sec, started.Usec), info.Proc.P_stat != zombie
}

// Boot differs between any two boots of any two machines; empty if the system does not say.
func Boot() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid")
	return id
}
