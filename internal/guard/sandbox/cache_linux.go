package sandbox

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// env are the variables for the directory that serves as /tmp, and for that of caches: the home
// directory is read-only. npm has a variable of its own.
func (scope Scope) env(temp string) []string {
	cache := filepath.Join(temp, ".cache")
	if scope.Cache != nil {
		cache = scope.Cache.Name()
	}
	return []string{"TMPDIR=" + temp, "XDG_CACHE_HOME=" + cache, "npm_config_cache=" + filepath.Join(cache, "npm")}
}

// again gives an open file, which stays the caller's, a descriptor.
func (c *Command) again(file *os.File) (string, error) {
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return "", err
	}
	return c.add(os.NewFile(uintptr(fd), file.Name())), nil
}
