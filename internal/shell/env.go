package shell

import (
	"slices"
	"strings"

	"podd/internal/commands/process"
)

// passedVariables are copied from podd's own environment. Everything else stays out,
// above all podd's keys; Shell.Env adds what a command needs.
var passedVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
}

// sessionVariables lead to what a command without a sandbox may use of the person's
// session: keys, containers, services.
var sessionVariables = []string{"SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST"}

// fixedVariables keep programs from waiting for a person or drawing for one.
var fixedVariables = []string{
	"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
}

// commandEnv is the environment of commands without what its sandbox sets, and without the
// settings of extra. own is podd's environment; extra has NAME=value, or NAME for the value in own.
func commandEnv(own, extra []string) []string {
	var env []string
	for _, entry := range own {
		name, value, _ := strings.Cut(entry, "=")
		if name == "PATH" {
			entry = "PATH=" + process.AbsolutePath(value)
		}
		if slices.Contains(passedVariables, name) || strings.HasPrefix(name, "LC_") || slices.Contains(extra, name) {
			env = append(env, entry)
		}
	}
	return append(env, fixedVariables...)
}

// settings are the entries NAME=value of Shell.Env, which come after everything else: what a
// person sets applies.
func settings(extra []string) []string {
	return slices.DeleteFunc(slices.Clone(extra), func(entry string) bool { return !strings.Contains(entry, "=") })
}
