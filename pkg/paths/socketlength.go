package paths

import (
	"syscall"

	"podd/pkg/item"
)

// MaxSocketPath is the maximal length of a socket's path in bytes: sockaddr_un without its
// terminating zero, 107 on Linux and 103 on macOS.
const MaxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// CheckSocketLength checks that a path fits in a Unix socket's address. The system's own
// error for one that doesn't is "invalid argument".
func CheckSocketLength(path string) error {
	if len(path) <= MaxSocketPath {
		return nil
	}
	return item.Errorf(item.KindInvalid, "SOCKET_PATH_TOO_LONG",
		"the socket's path is %d bytes long, but this system allows %d: name a shorter one with --socket or PODD_SOCKET (it is %s)",
		len(path), MaxSocketPath, path)
}
