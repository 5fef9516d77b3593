package systemd

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"podd/pkg/item"
)

// firstFD is the first passed descriptor.
const firstFD = 3

// maxFDs bounds the number of passed descriptors.
const maxFDs = 64

// variables are the environment variables of the protocols.
var variables = []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"}

// Start is what a service manager passed to this process.
type Start struct {
	// Sockets are the passed sockets, in order, each with the name from its unit. Programs
	// that podd starts do not inherit them.
	Sockets []*os.File
	// Manager gets podd's state; nil without a manager.
	Manager *Manager
}

// Take reads the service manager's variables and removes them from the environment: they are
// for this process, not for those that it starts. Without them it returns the zero Start. An
// error is an item.Error about a contradictory environment. Call it once, before podd starts
// anything.
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

// parse returns the names of the descriptors from firstFD on. It ignores variables that are
// for another process.
func parse(pid int, env func(string) string) (names []string, err error) {
	if of, err := strconv.Atoi(env("LISTEN_PID")); err != nil || of != pid {
		return nil, nil
	}
	text := env("LISTEN_FDS")
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxFDs {
		return nil, item.Errorf(item.KindInvalid, "LISTEN_FDS",
			"LISTEN_FDS is %q, not a number from 0 to %d: start podd from a socket unit, or unset LISTEN_PID", text, maxFDs)
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
