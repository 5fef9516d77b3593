//go:build !linux && !darwin && !freebsd

package socket

import "errors"

// peerUID fails, so that the connection is refused.
func peerUID(int) (int, error) {
	return -1, errors.New("this system does not report the peer of a Unix socket")
}
