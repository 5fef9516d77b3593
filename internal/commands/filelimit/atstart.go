//go:build linux && (amd64 || arm64)

package filelimit

import "unsafe"

//go:linkname rawSyscall6 syscall.RawSyscall6
func rawSyscall6(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2, errno uintptr)

// resource is RLIMIT_NOFILE.
const resource = 7

var atStart = read()

func read() *[2]uint64 {
	l := new([2]uint64)
	if _, _, errno := rawSyscall6(prlimit64, 0, resource, 0, uintptr(unsafe.Pointer(l)), 0, 0); errno != 0 {
		return nil
	}
	return l
}

// AtStart is the soft and the hard limit of open files that this process began with, the way prlimit(2) takes
// them; nil if they are not known.
func AtStart() *[2]uint64 { return atStart }
