package scopefs

import (
	"os"
	"syscall"
)

// The file systems whose files the kernel creates as they are read. The files claim to be
// regular, but a read may block for ever, and /proc contains the secrets of processes,
// including podd's own.
const (
	procMagic     = 0x9fa0
	sysMagic      = 0x62656572
	debugMagic    = 0x64626720
	traceMagic    = 0x74726163
	securityMagic = 0x73636673
	cgroupMagic   = 0x27e0eb
	cgroup2Magic  = 0x63677270
)

// kernelFile says whether the file is in such a file system.
func kernelFile(file *os.File) bool {
	var stat syscall.Statfs_t
	conn, err := file.SyscallConn()
	if err != nil {
		return true
	}
	if cerr := conn.Control(func(fd uintptr) { err = syscall.Fstatfs(int(fd), &stat) }); cerr != nil || err != nil {
		return true
	}
	switch uint32(stat.Type) {
	case procMagic, sysMagic, debugMagic, traceMagic, securityMagic, cgroupMagic, cgroup2Magic:
		return true
	}
	return false
}
