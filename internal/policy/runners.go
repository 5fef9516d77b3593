package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// kind says what a program does with its arguments.
type kind int

const (
	ordinary kind = iota
	// runner runs some of its arguments as a command: env, sudo, xargs.
	runner
	// coder takes shell code among its arguments: sh -c, eval, ssh.
	coder
	// interpreter takes code in a language of its own, or the name of a script and then
	// that script's arguments.
	interpreter
	// editor takes code in a language of its own anywhere.
	editor
)

// kinds are the programs whose arguments are commands or code. The list has what
// exists for that; that other programs can be talked into running something is
// theirs, and the guards below know the best known of those.
var kinds = byName(map[kind]string{
	runner: "env sudo doas run0 pkexec xargs nohup nice ionice chrt taskset time timeout gtimeout stdbuf setsid " +
		"setarch linux32 linux64 unshare nsenter chroot command builtin exec busybox toybox strace ltrace flock " +
		"systemd-run dbus-run-session dbus-launch unbuffer caffeinate cpulimit fakeroot bwrap firejail proxychains proxychains4 torsocks " +
		"npx bunx pnpx uvx entr gdb lldb valgrind perf hyperfine numactl prlimit runuser setpriv coproc",
	coder: "sh bash rbash dash ash ksh mksh zsh fish csh tcsh eval ssh su trap alias watch parallel script source . " +
		"hash enable set shopt bind complete compgen mapfile readarray jobs fc read unset getopts let at batch",
	interpreter: "python pypy perl ruby node nodejs php lua luajit awk gawk mawk nawk tclsh wish expect " +
		"osascript rscript julia",
	editor: "deno bun pwsh powershell ed ex vi vim nvim emacs sed gsed",
})

func byName(lists map[kind]string) map[string]kind {
	all := map[string]kind{}
	for k, list := range lists {
		for _, name := range strings.Fields(list) {
			all[name] = k
		}
	}
	return all
}

// programName is what a program is called, whatever its directory, case and
// version: /usr/bin/Python3.12 is python.
func programName(word string) string {
	name := strings.ToLower(path.Base(word))
	if _, known := kinds[name]; known {
		return name
	}
	if name = strings.TrimRight(name, "0123456789.-"); name == "" {
		return word
	}
	return name
}

func kindOf(program string) kind { return kinds[programName(program)] }

// guards are the words by which a program, or a command of it, runs another one
// or writes where it else would read. A wildcard of a rule that allows does not
// match them.
var guards = map[string][]string{
	"find":   {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"},
	"fd":     {"-x", "-X", "--exec", "--exec-batch"},
	"fdfind": {"-x", "-X", "--exec", "--exec-batch"},
	"rg":     {"--pre", "--hostname-bin"},
	"sort":   {"--compress-program"},
	"tar":    {"--to-command", "--checkpoint-action", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command", "-I", "-F"},
	"zip":    {"-T", "--unzip-command"},
	"rsync":  {"-e", "--rsh", "--rsync-path"},
	"scp":    {"-o", "-S"},
	"sftp":   {"-o", "-S"},
	"go":     {"-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool"},
	"make":   {"--eval", "-E"},
	"man":    {"-P", "--pager", "-H", "--html"},
	// The shells' own: a variable's name may be PATH, or hold a substitution.
	"printf":        {"-v"},
	"test":          {"-v", "-R"},
	"[":             {"-v", "-R"},
	"git":           {"--upload-pack", "--receive-pack", "--exec", "--extcmd", "--open-files-in-pager", "--ext-diff", "--textconv"},
	"git clone":     {"-c", "-u", "--config", "--template"},
	"git grep":      {"-O"},
	"git rebase":    {"-x"},
	"git difftool":  {"-x"},
	"git bisect":    {"run"},
	"git submodule": {"foreach"},
}

// guarded are the words that no wildcard stands for in a pattern's command.
func guarded(words []patternWord) []string {
	program := programName(words[0].parts[0])
	found := guards[program]
	if len(words) > 1 && words[1].literal() {
		found = slices.Concat(found, guards[program+" "+words[1].parts[0]])
	}
	return found
}

// isGuarded says whether a word is one of the guards, abbreviated or with a value.
func isGuarded(word string, guards []string) bool {
	name, _, _ := strings.Cut(word, "=")
	for _, g := range guards {
		switch {
		case name == g:
			return true
		case strings.HasPrefix(g, "--") && len(name) > 3 && strings.HasPrefix(g, name):
			return true
		case len(g) == 2 && g[0] == '-' && len(name) > 1 && name[0] == '-' && name[1] != '-' && strings.Contains(name, g[1:]):
			return true
		}
	}
	return false
}

// checkAllowed refuses a command of a rule that allows whose wildcards would allow
// any command; joined says that it is a part of a longer line.
func checkAllowed(words []patternWord, joined bool) error {
	if !words[0].literal() {
		return errors.New("has a wildcard in the program's name, which would allow any program: write the name")
	}
	program := words[0].parts[0]
	name, wild := programName(program), slices.ContainsFunc(words, func(w patternWord) bool { return !w.literal() })
	second := len(words) > 1 && words[1].literal() && words[1].parts[0] != "" && !strings.HasPrefix(words[1].parts[0], "-")
	script := second && (kindOf(program) == interpreter || kindOf(program) == coder && isShell(program))
	switch {
	case kindOf(program) != ordinary && wild && !script:
		return fmt.Errorf("has a wildcard after %s, which runs what its arguments say, so that any command would be allowed: write the whole command", quoted(program))
	case isShell(program) && len(words) == 1 && !joined:
		return fmt.Errorf("is a shell alone, which runs what is piped into it: write the whole line that it is a part of")
	case name == "git" && wild && !second:
		return errors.New("has a wildcard for git's own command, and git runs what its options and aliases say: write the command, as in \"git log *\"")
	case name == "git" && wild && slices.Contains([]string{"config", "filter-branch", "mergetool"}, words[1].parts[0]):
		return fmt.Errorf("has a wildcard after git %s, which can make git run any command: write the whole command", words[1].parts[0])
	}
	return nil
}

// isShell says whether a program is a shell, which runs a script, its input, or code.
func isShell(program string) bool {
	return slices.Contains(strings.Fields("sh bash rbash dash ash ksh mksh zsh fish csh tcsh"), programName(program))
}
