//go:build darwin || freebsd

package socket

import "golang.org/x/sys/unix"

// solLocal is the level of Unix socket options, which x/sys does not define.
const solLocal = 0

func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, solLocal, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}
