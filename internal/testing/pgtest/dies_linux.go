package pgtest

import "syscall"

// withUs makes a process end with this one.
func withUs(as *syscall.SysProcAttr) { as.Pdeathsig = syscall.SIGQUIT }
