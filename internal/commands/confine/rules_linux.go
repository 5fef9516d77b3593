package confine

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// MinVersion is the version of Landlock that is needed: the first that covers all ways to
// change a file.
const MinVersion = 3

// What Landlock can refuse, from linux/landlock.h.
const (
	readAccess = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// fileAccess is the part of all access that applies to a file.
	fileAccess = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// Rules are what a command may do. Landlock has no exceptions below an allowed path, so they
// name everything beside what is hidden.
type Rules struct {
	// Read are paths that are opened without following a link at their end; ReadOpen and
	// WriteOpen are descriptors.
	Read, ReadOpen, WriteOpen []string
	// Devices are files that can be written.
	Devices []string
	Filter  Filter
}

// Version is the kernel's version of Landlock, 0 without it.
func Version() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// Command is the command line by which a program that calls Main, at the path self, becomes
// argv under the rules.
func (r Rules) Command(self string, argv []string) []string {
	args := []string{self, Argument, strconv.Itoa(int(r.Filter))}
	for _, list := range r.lists() {
		args = append(append(args, strconv.Itoa(len(*list))), *list...)
	}
	return append(args, argv...)
}

func (r *Rules) lists() []*[]string {
	return []*[]string{&r.Read, &r.ReadOpen, &r.WriteOpen, &r.Devices}
}

// parse takes apart what follows Argument.
func parse(args []string) (r Rules, argv []string, err error) {
	number := func() (n int) {
		if len(args) == 0 {
			err = errHelper
			return 0
		}
		n, failed := strconv.Atoi(args[0])
		if args = args[1:]; failed != nil || n < 0 || n > len(args) {
			err = errHelper
			return 0
		}
		return n
	}
	r.Filter = Filter(number())
	for _, list := range r.lists() {
		n := number()
		*list, args = args[:n], args[n:]
	}
	if err == nil && len(args) == 0 {
		err = errHelper
	}
	return r, args, err
}
