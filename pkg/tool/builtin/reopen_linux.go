package builtin

import "syscall"

// reopenWatch notices that a command opened its own output by name, as
// >/dev/stderr does on Linux: the file is emptied then, and what was printed
// before may be lost. A watch that cannot be had notices nothing.
type reopenWatch struct{ fd int }

// watchReopens watches the file at path. The watcher's own writer must stay open
// until reopened has been asked.
func watchReopens(path string) reopenWatch {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return reopenWatch{-1}
	}
	if _, err := syscall.InotifyAddWatch(fd, path, syscall.IN_CLOSE_WRITE); err != nil {
		_ = syscall.Close(fd)
		return reopenWatch{-1}
	}
	return reopenWatch{fd}
}

// reopened says whether anyone else had the file open for writing and closed it.
func (w reopenWatch) reopened() bool {
	if w.fd < 0 {
		return false
	}
	n, err := syscall.Read(w.fd, make([]byte, 4<<10))
	return err == nil && n > 0
}

func (w reopenWatch) close() {
	if w.fd >= 0 {
		_ = syscall.Close(w.fd)
	}
}
