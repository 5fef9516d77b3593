package checkout

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"podd/pkg/item"
)

// transports are how podd reaches a repository that it clones. Others run programs that the URL
// names.
var transports = []string{"https", "http", "ssh", "git", "file"}

// checkURL refuses options, programs and relative paths, which git would accept. It also refuses a
// password, which everybody who sees the pod would see.
func checkURL(text string) error {
	bad := func(why string) error {
		return item.Errorf(item.KindInvalid, "BAD_URL", "podd can't clone %q: %s", text, why)
	}
	scheme, _, isURL := strings.Cut(text, "://")
	host, _, remote := strings.Cut(text, ":")
	switch {
	case text == "" || strings.HasPrefix(text, "-") || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return bad("name a URL, HOST:PATH, or an absolute path")
	case !isURL && (path.IsAbs(text) || remote && host != "" && !strings.ContainsAny(host, "/") && !strings.HasPrefix(text[len(host):], "::")):
		return nil
	case !isURL || !slices.Contains(transports, scheme):
		return bad("name a URL that begins with https://, ssh://, git:// or file://, or HOST:PATH, or an absolute path")
	}
	u, err := url.Parse(text)
	if err != nil {
		return bad("it is no URL")
	}
	if _, has := u.User.Password(); has {
		return item.Errorf(item.KindInvalid, "BAD_URL", "leave the password out of the URL: podd uses git's credential helpers, as git does for you")
	}
	return nil
}

// localVariables are those of one repository, which podd may have got from a git that started it.
var localVariables = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE",
	"GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE",
	"SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GIT_TERMINAL_PROMPT", "LC_ALL",
}

// onlineSettings keep git from running what a person runs after or around their own commands.
func onlineSettings() (pairs [][2]string) {
	pairs = [][2]string{{"core.hooksPath", os.DevNull}, {"core.fsmonitor", "false"}, {"gc.auto", "0"}, {"maintenance.auto", "false"}, {"submodule.recurse", "false"},
		{"fetch.recurseSubmodules", "false"}, {"push.recurseSubmodules", "no"}, {"push.gpgSign", "false"}, {"push.followTags", "false"}, {"protocol.allow", "never"}}
	for _, name := range transports {
		pairs = append(pairs, [2]string{"protocol." + name + ".allow", "always"})
	}
	return pairs
}

// onlineEnviron is podd's own environment for git: the credentials come from its agent and helpers, since
// podd has no terminal to ask for them.
func onlineEnviron(own []string) []string {
	env := slices.DeleteFunc(slices.Clone(own), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(localVariables, name) || strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
	})
	pairs := onlineSettings()
	env = append(env, "GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "LC_ALL=C", "GIT_CONFIG_COUNT="+strconv.Itoa(len(pairs)))
	for i, p := range pairs {
		env = append(env, "GIT_CONFIG_KEY_"+strconv.Itoa(i)+"="+p[0], "GIT_CONFIG_VALUE_"+strconv.Itoa(i)+"="+p[1])
	}
	return env
}

// How long git may take to bring a repository, and for anything else with a server.
const (
	slowFetch  = time.Hour
	slowServer = 10 * time.Minute
)

// atLocal names the program at the other end of a repository on this machine. git does not pass settings on
// to it, and podd trusts none of that repository's programs. Only the hooks of a bare
// repository run at a push: whoever shares one decides by them what may be pushed.
func atLocal(url string, args []string) []string {
	if !strings.HasPrefix(url, "/") && !strings.HasPrefix(url, "file:") || len(args) == 0 {
		return args
	}
	option, program := "--upload-pack=", "upload-pack"
	if args[0] == "push" {
		option, program = "--receive-pack=", "receive-pack"
	}
	hooks := "-c core.hooksPath=/dev/null "
	if args[0] == "push" && isBare(strings.TrimPrefix(url, "file://")) {
		hooks = ""
	}
	git := "git " + hooks + "-c core.fsmonitor=false -c core.alternateRefsCommand=true -c receive.autogc=false -c gc.auto=0 -c maintenance.auto=false "
	return slices.Concat(args[:1], []string{option + git + program}, args[1:])
}

// isBare says whether a directory is a repository without a work tree.
func isBare(dir string) bool {
	_, work := os.Lstat(path.Join(dir, ".git"))
	_, head := os.Lstat(path.Join(dir, "HEAD"))
	return os.IsNotExist(work) && head == nil
}

// online runs git with the network and the person's own configuration and credentials, in podd's
// repository of a clone: no pod can write there, and no checkout's configuration is read.
func (all Clones) online(ctx context.Context, r *Record, within time.Duration, args ...string) (string, error) {
	if says := all.Refuses; says != "" {
		return "", item.Errorf(item.KindPrecondition, "NO_SANDBOX", "%s", says)
	}
	git, err := program("git")
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cmd := exec.CommandContext(ctx, git, atLocal(r.URL, args)...)
	// A session of its own has no terminal on which ssh would ask.
	cmd.Dir, cmd.SysProcAttr = r.place, &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append(onlineEnviron(all.environ()), "GIT_CEILING_DIRECTORIES="+path.Dir(r.place))
	if _, err := os.Lstat(r.Common); err == nil {
		cmd.Env = append(cmd.Env, "GIT_DIR="+r.Common)
	}
	var out, says bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &says
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return out.String(), &failure{args: args, says: withoutWarnings(says.String()), err: err}
	}
	return out.String(), nil
}

// withoutWarnings is what git and ssh say of a failure.
func withoutWarnings(says string) string {
	var kept strings.Builder
	for l := range strings.Lines(says) {
		if !strings.HasPrefix(strings.ToLower(l), "warning:") {
			kept.WriteString(l)
		}
	}
	return kept.String()
}

// heads are the default branch of the source of a clone, empty without one, and the values of some
// references; a missing one has none.
func (all Clones) heads(ctx context.Context, r *Record, refs ...string) (branch string, ids map[string]string, err error) {
	out, err := all.online(ctx, r, slowServer, append([]string{"ls-remote", "--symref", r.URL, "HEAD"}, refs...)...)
	if err != nil {
		return "", nil, unreachable(r, err)
	}
	ids = make(map[string]string)
	for l := range strings.Lines(out) {
		value, name, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
		if target, ok := strings.CutPrefix(value, "ref: "); ok && name == "HEAD" {
			branch = target
		} else if !ok {
			ids[name] = value
		}
	}
	return branch, ids, nil
}

// unreachable is the error of a source that git cannot use.
func unreachable(r *Record, err error) error {
	if _, ok := err.(*failure); !ok { //nolint:errorlint // It is not wrapped.
		return err
	}
	e := item.Errorf(item.KindPrecondition, "BAD_REMOTE", "podd can't use the repository %s (%v): try git ls-remote %[1]s as the user of podd", r.URL, err)
	e.Cause = err
	return e
}
