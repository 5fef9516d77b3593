package process

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// maxRest bounds what is read from a pipe after its deadline, in bytes: a pipe holds no more, unless root made it larger.
const maxRest = 1 << 20

// ReadPipe reads a pipe to its end or its read deadline. What is in the pipe at the deadline is read, however
// late the reader comes to it: a busy machine must not cost a command that has ended its last words.
func ReadPipe(pipe *os.File, take func([]byte)) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := pipe.Read(buffer)
		take(buffer[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			readRest(pipe, buffer, take)
		}
		if err != nil {
			return
		}
	}
}

// readRest reads what is in a pipe, and does not wait for more.
func readRest(pipe *os.File, buffer []byte, take func([]byte)) {
	_ = pipe.SetReadDeadline(time.Time{})
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Read(func(fd uintptr) bool {
		for total := 0; total < maxRest; {
			n, err := syscall.Read(int(fd), buffer)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if n <= 0 {
				break
			}
			take(buffer[:n])
			total += n
		}
		return true
	})
}
