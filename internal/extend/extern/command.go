package extern

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"podd/internal/commands/process"
	"podd/pkg/item"
)

// The timeouts of commands that name none.
const (
	DefaultInterceptorTimeout = time.Minute
	DefaultHookTimeout        = 30 * time.Second
)

// keyVariable holds podd's key for its model endpoint, which goes to no command.
const keyVariable = "OPENAI_API_KEY"

// Command is what runs for events.
type Command struct {
	// Name is shown as the cause of what the command did: letters, digits, ".", "-" and
	// "_", at most 64.
	Name string
	// On are the events that it runs for; see Edges and Events.
	On []string
	// Argv is the program and its arguments. The program is an absolute path or a name
	// that is looked up in podd's PATH: relative to the workspace it would be the
	// model's to write.
	Argv []string
	// Timeout is how long it may take for one event; 0 means the default.
	Timeout time.Duration
	// Env adds to its environment: NAME=value, or NAME to pass on podd's own value.
	Env []string
	// History is what an interceptor's command is given of the conversation; a hook's is
	// given nothing.
	History History
}

var (
	nameForm     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// check refuses what can't run, and events that are not among known.
func (c Command) check(known []string) error {
	if !nameForm.MatchString(c.Name) {
		return bad("the name %q is not letters, digits, \".\", \"-\" and \"_\", at most 64 of them", c.Name)
	}
	if len(c.On) == 0 {
		return bad("%s names no event: set on to some of %s", c.Name, strings.Join(known, ", "))
	}
	for _, event := range c.On {
		if !slices.Contains(known, event) {
			return bad("%s: there is no event %q: on may have %s", c.Name, event, strings.Join(known, ", "))
		}
	}
	if c.Timeout < 0 {
		return bad("%s: the timeout is below 0", c.Name)
	}
	if err := c.checkArgv(); err != nil {
		return err
	}
	return c.checkEnv()
}

func (c Command) checkArgv() error {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return bad("%s has no command", c.Name)
	}
	for _, arg := range c.Argv {
		if strings.ContainsRune(arg, 0) {
			return bad("%s: the command has a NUL character", c.Name)
		}
	}
	if program := c.Argv[0]; strings.ContainsRune(program, '/') && !filepath.IsAbs(program) {
		return bad("%s: the program %s is relative, and the command runs in the pod's workspace: name it by its absolute path", c.Name, program)
	}
	return nil
}

func (c Command) checkEnv() error {
	for _, entry := range c.Env {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case !variableForm.MatchString(name) || strings.ContainsRune(entry, 0):
			return bad("%s: %q in env is neither NAME nor NAME=value", c.Name, name)
		case name == keyVariable:
			return bad("%s: env has %s, and podd's key goes to no command: give the command a key of its own under another name", c.Name, name)
		}
	}
	return nil
}

func bad(format string, args ...any) error {
	return item.Errorf(item.KindInvalid, "EXTENSION", format, args...)
}

// passedVariables are taken over from podd's own environment, and those that begin
// with LC_.
var passedVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
}

// environment is what a command gets; own is podd's environment.
func (c Command) environment(own []string, dir string, e event) []string {
	var env []string
	for _, entry := range own {
		name, value, _ := strings.Cut(entry, "=")
		if name == "PATH" {
			entry = "PATH=" + process.AbsolutePath(value)
		}
		if slices.Contains(passedVariables, name) || strings.HasPrefix(name, "LC_") || slices.Contains(c.Env, name) {
			env = append(env, entry)
		}
	}
	env = append(env, "PWD="+dir, "PODD_EVENT="+e.Event, fmt.Sprintf("PODD_POD=%s", e.Pod.Name))
	for _, entry := range c.Env {
		if strings.Contains(entry, "=") {
			env = append(env, entry)
		}
	}
	return env
}
