package shim

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownNetwork starts a process in namespaces of its own for users and the network. Users and
// groups keep their numbers. The jobs of a pod share this network and no sandbox: each has its own
// bwrap, which inherits the network. A helper inside one sandbox would fix the mounts when the
// first job starts, and commands could signal it and forge exit statuses.
func ownNetwork(attr *syscall.SysProcAttr) {
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNET
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
}

// startNetwork brings up the loopback of this process, gives up what only that needs, and
// executes this program again with one more argument: a command gets none of it. It returns
// on error alone.
func startNetwork(files int) error {
	// What a thread has is for that thread alone.
	runtime.LockOSThread()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, loopback); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	for fd := range files {
		if _, err := unix.FcntlInt(uintptr(3+fd), unix.F_SETFD, 0); err != nil {
			return err
		}
	}
	return unix.Exec("/proc/self/exe", append(os.Args, networkStarted), os.Environ())
}
