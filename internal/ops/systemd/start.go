package systemd

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"podd/pkg/item"
)

// firstFD is the first descriptor that is passed on.
const firstFD = 3

// maxFDs bounds how many there may be.
const maxFDs = 64

// variables are what the protocols put into the environment.
var variables = []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"}

// Start is what a service manager gave to this process.
type Start struct {
	// Sockets are what it passed on, in its order, each with the name that the unit gives
	// it. Programs that podd starts do not inherit them.
	Sockets []*os.File
	// Manager hears how podd does; nil when nobody listens.
	Manager *Manager
}

// Take reads what the service manager said in the environment, and takes it out of there:
// it is meant for this process, not for those that it starts. A process that was given
// nothing gets the zero Start. An error is an item.Error: the environment is contradictory.
// It is called once, before podd starts anything.
func Take() (Start, error) {
	passed, err := parse(os.Getpid(), os.Getenv)
	s := Start{Manager: newManager(os.Getenv("NOTIFY_SOCKET"))}
	for _, name := range variables {
		_ = os.Unsetenv(name)
	}
	if err != nil {
		return Start{}, err
	}
	for i, name := range passed {
		syscall.CloseOnExec(firstFD + i)
		s.Sockets = append(s.Sockets, os.NewFile(uintptr(firstFD+i), name))
	}
	return s, nil
}

// parse says how the descriptors from firstFD on are named. What is meant for another
// process is none of ours.
func parse(pid int, env func(string) string) (names []string, err error) {
	if of, err := strconv.Atoi(env("LISTEN_PID")); err != nil || of != pid {
		return nil, nil
	}
	text := env("LISTEN_FDS")
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxFDs {
		return nil, item.Errorf(item.KindInvalid, "LISTEN_FDS",
			"LISTEN_FDS says %q where a number of sockets from 0 to %d belongs: start podd from a socket unit, or unset LISTEN_PID", text, maxFDs)
	}
	names = make([]string, n)
	given := strings.Split(env("LISTEN_FDNAMES"), ":")
	for i := range names {
		names[i] = "unknown"
		if len(given) == n && given[i] != "" {
			names[i] = given[i]
		}
	}
	return names, nil
}
