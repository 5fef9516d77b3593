package main

import (
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// endWithReader ends podctl when the last reader of the pipe stdout goes, as the next write to
// it would: a verb that follows may have nothing to write for hours. Call stop at the end.
func endWithReader(stdout io.Writer) (stop func()) {
	out, ok := stdout.(*os.File)
	if !ok {
		return func() {}
	}
	info, err := out.Stat()
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return func() {}
	}
	ended, end, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		watched := []unix.PollFd{{Fd: int32(out.Fd())}, {Fd: int32(ended.Fd())}}
		for {
			_, err := unix.Poll(watched, -1)
			switch {
			case err == unix.EINTR:
				continue
			case err == nil && watched[1].Revents == 0:
				_, _ = out.WriteString("\n") // A signal ends podctl.
			}
			return
		}
	}()
	return func() {
		_ = end.Close()
		<-done
		_ = ended.Close()
	}
}
