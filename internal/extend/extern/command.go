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
	"podd/pkg/lazy"
	"podd/pkg/tool"
)

// The default timeouts of commands.
const (
	DefaultInterceptorTimeout = time.Minute
	DefaultHookTimeout        = 30 * time.Second
)

// keyVariable has podd's key for its model endpoint, which no command gets.
const keyVariable = "OPENAI_API_KEY"

// Command is a command that runs for events.
type Command struct {
	// Name identifies the command in reasons and alerts: letters, digits, ".", "-" and "_",
	// at most 64.
	Name string
	// On are the events that it runs for; see Edges and Events.
	On []string
	// Argv is the program and its arguments. The program is an absolute path or a name in
	// podd's PATH: the model could write a program in the workspace.
	Argv []string
	// Timeout limits the run for one event; 0 means the default.
	Timeout time.Duration
	// Env adds to its environment: NAME=value, or NAME to pass podd's own value.
	Env []string
	// History is the part of the conversation that an interceptor's command gets; a hook's
	// command gets none.
	History History
}

var (
	nameForm     = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// check refuses commands that can't run, and events that are not in known.
func (c Command) check(known []string) error {
	if err := c.checkRun(); err != nil {
		return err
	}
	if len(c.On) == 0 {
		return bad("%s has no events: set on to some of %s", c.Name, strings.Join(known, ", "))
	}
	for _, event := range c.On {
		if !slices.Contains(known, event) {
			return bad("%s: unknown event %q: on may contain %s", c.Name, event, strings.Join(known, ", "))
		}
	}
	return nil
}

// checkRun refuses commands that can't run.
func (c Command) checkRun() error {
	if !nameForm().MatchString(c.Name) {
		return bad("the name %q is not valid: use at most 64 letters, digits, \".\", \"-\" and \"_\"", c.Name)
	}
	if c.Timeout < 0 {
		return bad("%s: the timeout is negative", c.Name)
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
			return bad("%s: the command contains a NUL character", c.Name)
		}
	}
	if program := c.Argv[0]; strings.ContainsRune(program, '/') && !filepath.IsAbs(program) {
		return bad("%s: the path of the program %s is relative, but the command runs in the pod's workspace: use an absolute path", c.Name, program)
	}
	return nil
}

func (c Command) checkEnv() error {
	for _, entry := range c.Env {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case !variableForm.MatchString(name) || strings.ContainsRune(entry, 0):
			return bad("%s: %q in env must be NAME or NAME=value", c.Name, name)
		case name == keyVariable:
			return bad("%s: env contains %s, but no command gets podd's key: give the command its own key under another name", c.Name, name)
		}
	}
	return nil
}

func bad(format string, args ...any) error {
	return item.Errorf(item.KindInvalid, "EXTENSION", format, args...)
}

// passedVariables are copied from podd's own environment, like all that begin with LC_.
var passedVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
}

// environment is a command's environment; own is podd's.
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
	if e.Call != nil {
		env = append(env, tool.KeyVariable+"="+e.Call.Key)
	}
	for _, entry := range c.Env {
		if strings.Contains(entry, "=") {
			env = append(env, entry)
		}
	}
	return env
}
