package checkout

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"podd/internal/commands/process"
	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/scopefs/git"
)

// command is one run of git, in a sandbox.
type command struct {
	// dir is where it runs, and the first directory that it sees. It may change it with writes.
	dir    string
	writes bool
	// also are further directories that it may change if it writes, reads those that it sees.
	also, reads []string
	// person lets it read the person's own configuration.
	person bool
	// config are settings in addition to settings.
	config [][2]string
	env    []string
	stdin  io.Reader
	// stdout gets the output instead of the result.
	stdout *os.File
	args   []string
	// script runs instead of git, by sh, with the args.
	script string
}

// slow bounds a run of git.
const slow = 10 * time.Minute

// settings keep git from running other programs, and from asking or reporting. They are stronger
// than any file of configuration.
var settings = [][2]string{
	{"core.hooksPath", os.DevNull}, {"core.fsmonitor", "false"}, {"core.untrackedCache", "false"}, {"core.pager", "cat"}, {"core.editor", "false"},
	{"core.sshCommand", "false"}, {"core.alternateRefsCommand", "true"}, {"core.askPass", "false"}, {"credential.helper", ""}, {"diff.external", ""},
	{"sequence.editor", "false"}, {"gpg.program", "false"}, {"commit.gpgSign", "false"}, {"tag.gpgSign", "false"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
	{"protocol.allow", "never"}, {"protocol.file.allow", "always"}, {"submodule.recurse", "false"}, {"fetch.recurseSubmodules", "false"},
	{"advice.detachedHead", "false"}, {"core.quotePath", "false"}, {"status.relativePaths", "false"}, {"status.showUntrackedFiles", "all"}, {"merge.renormalize", "false"},
	{"rerere.enabled", "false"}, {"log.showSignature", "false"}, {"color.ui", "false"}, {"merge.autoStash", "false"}, {"feature.manyFiles", "false"},
}

// variable is the value of a variable in an environment; empty without one.
func variable(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// environ is git's environment.
func (c command) environ(own []string, home string) []string {
	pairs := slices.Concat(settings, c.config)
	env := []string{
		"PATH=" + process.AbsolutePath(cmp.Or(variable(own, "PATH"), "/usr/local/bin:/usr/bin:/bin")), "LC_ALL=C", "PWD=" + c.dir,
		"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_EDITOR=false", "GIT_ASKPASS=false", "GIT_NO_LAZY_FETCH=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_CONFIG_COUNT=" + strconv.Itoa(len(pairs)),
	}
	if c.person {
		env = append(env, "HOME="+home)
		if config := variable(own, "XDG_CONFIG_HOME"); config != "" {
			env = append(env, "XDG_CONFIG_HOME="+config)
		}
		for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"} {
			if value := variable(own, name); value != "" {
				env = append(env, name+"="+value)
			}
		}
	} else {
		env = append(env, "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	}
	if !c.writes {
		env = append(env, "GIT_OPTIONAL_LOCKS=0")
	}
	if git.IsDir(c.dir) {
		env = append(env, "GIT_WORK_TREE=.") // The working tree of a submodule is hidden there.
	}
	for i, s := range pairs {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	return append(env, c.env...)
}

// failure is git's own word on why it failed.
type failure struct {
	args []string
	says string
	err  error
}

func (f *failure) Error() string {
	says := strings.TrimSpace(f.says)
	if first, _, more := strings.Cut(says, "\n"); more {
		says = first
	}
	says = strings.TrimPrefix(strings.TrimPrefix(says, "fatal: "), "error: ")
	verb := slices.IndexFunc(f.args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	return fmt.Sprintf("git %s: %s", f.args[max(verb, 0)], cmp.Or(says, f.err.Error()))
}

// Is says whether the disk is full: git has no code for that.
func (f *failure) Is(target error) bool {
	return target == error(syscall.ENOSPC) && (strings.Contains(f.says, "No space left") || strings.Contains(f.says, "Disk quota"))
}

// program is the path of git, or of the shell that runs it.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(path) {
		return "", item.Errorf(item.KindPrecondition, "NO_GIT", "podd needs git for this: install it, so that podd finds it in PATH")
	}
	return path, nil
}

// git runs git and returns what it prints.
func (all *Checkouts) git(ctx context.Context, c command) (string, error) {
	if says := all.Refuses; says != "" {
		return "", item.Errorf(item.KindPrecondition, "NO_SANDBOX", "%s", says)
	}
	name := "git"
	if c.script != "" {
		name = "sh"
	}
	path, err := program(name)
	if err != nil {
		return "", err
	}
	argv := append([]string{path}, c.args...)
	if c.script != "" {
		argv = append([]string{path, "-c", c.script, "sh"}, c.args...)
	}
	if err := os.MkdirAll(all.temp(), 0o700); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(all.temp(), "git-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	ctx, cancel := context.WithTimeout(ctx, slow)
	defer cancel()
	run, done, err := all.Confine(ctx, sandbox.Place{Dir: c.dir, Writes: c.writes, Also: c.also, Reads: c.reads, Temp: temp}, argv...)
	if err != nil {
		return "", err
	}
	defer done()
	release, err := runs(all.Dir).hold(run)
	if err != nil {
		return "", err
	}
	defer release()
	run.Stdin, run.Env = c.stdin, append(c.environ(all.environ(), all.Home), run.Env...)
	var out, says bytes.Buffer
	run.Stdout, run.Stderr = &out, &says
	if c.stdout != nil {
		run.Stdout = c.stdout
	}
	if err := run.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		args := c.args
		if c.script != "" {
			args = []string{"status"}
		}
		return out.String(), &failure{args: args, says: says.String(), err: err}
	}
	return out.String(), nil
}

// line is the only line of an output.
func line(out string, err error) (string, error) { return strings.TrimSuffix(out, "\n"), err }

// fields are the parts of an output, each ended by a NUL byte.
func fields(out string) []string {
	out = strings.TrimSuffix(out, "\x00")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}
