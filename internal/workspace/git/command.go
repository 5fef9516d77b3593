package git

import (
	"path"
	"slices"
	"strings"
)

// Use is what a command line does to repositories.
type Use int

// The uses, from the least to the most.
const (
	// Reads needs nothing to be writable, or is not known to.
	Reads Use = iota
	// Works changes what git works with: objects, references, the index.
	Works
	// Changes may change more than that: configuration, hooks, other repositories, or what a
	// program that it names changes.
	Changes
)

// LineUse is the use of a line of plain words, given as its commands. For Changes it
// quotes the first command that is the reason.
//
// A line works only when all of its commands work or read: any other command beside them
// could write what they may write.
func LineUse(commands [][]string) (use Use, which string) {
	alone := true
	for _, words := range commands {
		if len(words) == 0 {
			continue
		}
		if words[0] != "git" {
			alone = alone && slices.Contains(bystanders, words[0])
			continue
		}
		switch commandUse(words[1:]) {
		case Changes:
			return Changes, strings.Join(words[:min(len(words), 3)], " ")
		case Works:
			use = Works
		}
	}
	if !alone {
		return Reads, ""
	}
	return use, ""
}

// bystanders are commands without an option that writes a file or runs a program.
var bystanders = []string{"cd", "pwd", "echo", "true", ":", "cat", "head", "tail", "wc", "ls", "grep"}

// commandUse is the use of one command, without the word git.
func commandUse(words []string) Use {
	rest, plain := afterGlobals(words)
	if len(rest) == 0 {
		return Reads
	}
	name, args := rest[0], rest[1:]
	if reads, ok := partlyReading[name]; ok && reads(args) {
		return Reads
	}
	if options, ok := working[name]; ok {
		if name == "stash" {
			args = stashArgs(args)
		}
		if plain && args != nil && onlyKnown(args, strings.Fields(options)) {
			return Works
		}
		return Changes
	}
	if slices.Contains(changing, name) {
		return Changes
	}
	return Reads
}

// afterGlobals is a command without the options before it. plain says that it has none.
func afterGlobals(words []string) (rest []string, plain bool) {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case !strings.HasPrefix(w, "-"):
			return words[i:], i == 0
		case slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env", "--attr-source"}, w):
			i++
		}
	}
	return nil, false
}

// working are the commands that change what git works with, each with its allowed
// options; an option with = may have its value in the next word. The list omits options
// that run programs, discard what has no other copy, or open an editor on a file that git
// executes.
var working = map[string]string{
	"add": "-A -u -v -n -N -f --all --update --verbose --dry-run --intent-to-add --force --renormalize --chmod --ignore-errors --refresh --sparse --pathspec-from-file=",
	"rm":  "-r -f -n -q --cached --recursive --force --dry-run --quiet --ignore-unmatch --sparse --pathspec-from-file=",
	"mv":  "-f -k -n -v --force --dry-run --verbose --sparse",
	"commit": "-a -v -q -s -e -n -o -i -S -m= -F= -C= -c= -t= --all --message= --file= --amend --no-edit --edit --signoff --no-verify --verify --allow-empty " +
		"--allow-empty-message --author= --date= --cleanup= --fixup= --squash= --reuse-message= --reedit-message= --template= --quiet --verbose --dry-run " +
		"--porcelain --short --gpg-sign --no-gpg-sign --trailer= --reset-author --only --include --status --no-status --no-post-rewrite --branch --pathspec-from-file=",
	"stash":    "-k -u -a -q -S -m= --index --keep-index --no-keep-index --include-untracked --all --quiet --message= --staged --pathspec-from-file=",
	"switch":   "-c= -d -t -q -m --create= --detach --track --no-track --guess --no-guess --quiet --progress --no-progress --orphan= --merge --conflict=",
	"checkout": "-b= -q -t -l -d -m --ours --theirs --detach --track --no-track --guess --no-guess --orphan= --quiet --progress --no-progress --merge --conflict= --overlay --no-overlay --pathspec-from-file=",
	"restore":  "-s= -S -W -q -m --source= --staged --worktree --quiet --ours --theirs --merge --conflict= --overlay --no-overlay --progress --no-progress --ignore-unmerged --pathspec-from-file=",
	"reset":    "-q -N --soft --mixed --hard --keep --merge --quiet --intent-to-add --refresh --no-refresh --pathspec-from-file=",
	"merge": "-m= -F= -X= -q -v -n -e -S --no-ff --ff --ff-only --squash --no-squash --commit --no-commit --edit --no-edit --message= --file= --abort --continue --quit --quiet --verbose " +
		"--stat --no-stat --signoff --verify --no-verify --allow-unrelated-histories --autostash --no-autostash --log --no-log --gpg-sign --no-gpg-sign --progress --no-progress --strategy-option= --cleanup=",
	"rebase": "-q -v -n -m -S -X= --continue --abort --skip --quit --onto= --root --autosquash --no-autosquash --autostash --no-autostash --merge --rebase-merges --keep-base --fork-point " +
		"--no-fork-point --quiet --verbose --stat --no-stat --verify --no-verify --signoff --update-refs --no-update-refs --empty= --keep-empty --no-keep-empty --ignore-date " +
		"--committer-date-is-author-date --reapply-cherry-picks --no-reapply-cherry-picks --no-ff --strategy-option= --gpg-sign --no-gpg-sign",
	"cherry-pick": sequenced + " --ff --allow-empty --allow-empty-message --keep-redundant-commits --empty=",
	"revert":      sequenced + " --reference",
	"am":          "-3 -s -k -q --3way --signoff --keep --keep-non-patch --quiet --continue --resolved --skip --abort --quit --no-gpg-sign --show-current-patch",
	"apply": "-3 -R -N -v -q -p= -C= --index --cached --3way --check --stat --numstat --summary --reverse --reject --intent-to-add --unidiff-zero --whitespace= --directory= --exclude= " +
		"--include= --verbose --quiet --apply --recount --ignore-whitespace --ignore-space-change --allow-empty",
	"tag": "-a -s -l -n -d -i -m= -F= -u= --annotate --sign --no-sign --message= --file= --local-user= --list --delete --sort= --contains= --no-contains= --points-at= --merged= --no-merged= " +
		"--column --no-column --format= --ignore-case --cleanup= --create-reflog --color --no-color",
	"branch": "-a -r -v -l -q -d -m -c -t -i -u= --all --remotes --verbose --list --quiet --delete --move --copy --track --no-track --ignore-case --show-current --contains= --no-contains= " +
		"--merged= --no-merged= --sort= --points-at= --format= --column --no-column --set-upstream-to= --unset-upstream --abbrev --no-abbrev --create-reflog --color --no-color",
	"update-index": "-q --refresh --really-refresh --quiet --ignore-submodules --unmerged",
}

const sequenced = "-n -x -e -s -S -m= -X= --no-commit --edit --no-edit --signoff --mainline= --continue --abort --skip --quit --strategy-option= --cleanup= " +
	"--rerere-autoupdate --no-rerere-autoupdate --gpg-sign --no-gpg-sign"

// changing are the commands that change other things, or that bring another repository.
var changing = []string{
	"init", "clone", "fetch", "pull", "push", "config", "remote", "worktree", "submodule", "gc", "repack", "prune", "maintenance", "pack-refs",
	"filter-branch", "filter-repo", "fast-import", "update-ref", "symbolic-ref", "read-tree", "write-tree", "commit-tree", "replace", "notes", "reflog",
	"bisect", "sparse-checkout", "rerere", "fetch-pack", "send-pack", "unpack-objects", "index-pack", "hash-object", "mktree", "mktag", "init-db", "svn", "subtree",
}

// partlyReading are commands that only read with some arguments.
var partlyReading = map[string]func(args []string) bool{
	"config":          configReads,
	"remote":          verbs("", "-v", "--verbose", "show", "get-url"),
	"worktree":        verbs("list"),
	"submodule":       verbs("", "status", "summary"),
	"stash":           verbs("list", "show"),
	"notes":           verbs("", "list", "show"),
	"reflog":          verbs("", "show", "exists", "list"),
	"bisect":          verbs("log", "view", "visualize", "terms"),
	"sparse-checkout": verbs("list"),
	"symbolic-ref":    func(args []string) bool { return len(operands(args)) == 1 && !slices.Contains(args, "-d") },
	"hash-object":     func(args []string) bool { return !slices.Contains(args, "-w") },
	"replace":         verbs("", "-l", "--list"),
}

func verbs(all ...string) func(args []string) bool {
	return func(args []string) bool {
		if len(args) == 0 {
			return slices.Contains(all, "")
		}
		return slices.Contains(all, args[0])
	}
}

func configReads(args []string) bool {
	for _, a := range args {
		if strings.HasPrefix(a, "--get") || a == "--list" || a == "-l" {
			return true
		}
	}
	names := operands(args)
	if len(names) > 0 && (names[0] == "get" || names[0] == "list") {
		return true
	}
	return len(names) == 1 && !slices.ContainsFunc(args, func(a string) bool {
		return slices.Contains([]string{"-e", "edit", "--edit", "--unset", "--unset-all", "--remove-section", "--rename-section", "--add", "--replace-all"}, a)
	})
}

// operands are the words that are not options.
func operands(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
}

// stashArgs are the arguments after stash and its verb; nil for a verb that discards.
func stashArgs(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{}
	case slices.Contains([]string{"push", "pop", "apply"}, args[0]):
		return append([]string{}, args[1:]...)
	case strings.HasPrefix(args[0], "-"):
		return args
	}
	return nil
}

// onlyKnown says whether all options among the arguments are known.
func onlyKnown(args, known []string) bool {
	has := func(option string) (there, valued bool) {
		return slices.Contains(known, option) || slices.Contains(known, option+"="), slices.Contains(known, option+"=")
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return true
		case a == "-" || !strings.HasPrefix(a, "-"):
		case strings.HasPrefix(a, "--"):
			name, _, given := strings.Cut(a, "=")
			there, valued := has(name)
			if !there {
				return false
			}
			if valued && !given {
				i++
			}
		default:
			next, ok := letters(a[1:], has)
			if !ok {
				return false
			}
			i += next
		}
	}
	return true
}

// letters checks a word of one-letter options against the known ones. next is the number
// of following words that are values.
func letters(word string, has func(string) (there, valued bool)) (next int, ok bool) {
	for j, letter := range word {
		if letter >= '0' && letter <= '9' {
			continue // A count, as in -n3.
		}
		there, valued := has("-" + string(letter))
		if !there {
			return 0, false
		}
		if valued {
			if j+1 == len(word) {
				return 1, true
			}
			return 0, true
		}
	}
	return 0, true
}

// Touches returns the command of a line of plain words that names something in a
// repository, is not git, and is not known to read only; empty without one.
func Touches(commands [][]string) string {
	for _, words := range commands {
		if len(words) == 0 || words[0] == "git" || !slices.ContainsFunc(paths(words[1:]), Names) {
			continue
		}
		if safe, known := readers[words[0]]; known && (safe == nil || safe(words[1:])) {
			continue
		}
		return path.Base(words[0])
	}
	return ""
}

// paths are the arguments that may be paths which a program changes: not those by which it
// leaves something out.
func paths(args []string) []string {
	leaves := func(a string) bool {
		return strings.HasPrefix(a, "--exclude") || strings.HasPrefix(a, "--ignore") || strings.HasPrefix(a, "--skip")
	}
	var all []string
	for i, a := range args {
		if !leaves(a) && (i == 0 || !leaves(args[i-1]) || strings.Contains(args[i-1], "=")) {
			all = append(all, a)
		}
	}
	return all
}

// Names says whether a text names something called .git, or in it.
func Names(text string) bool {
	const name = ".git"
	separates := func(c byte) bool { return strings.IndexByte("/=:,;&|<>()'\" \t\n", c) >= 0 }
	for at := 0; ; at++ {
		i := strings.Index(strings.ToLower(text[at:]), name)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(name)
		if (at == 0 || separates(text[at-1])) && (end == len(text) || separates(text[end])) {
			return true
		}
	}
}

// readers are programs that read, each with a check of its arguments; nil accepts any.
var readers = map[string]func(args []string) bool{
	"cat": nil, "head": nil, "tail": nil, "wc": nil, "ls": nil, "grep": nil, "egrep": nil, "fgrep": nil, "stat": nil, "file": nil, "du": nil, "nl": nil, "cut": nil,
	"cmp": nil, "diff": nil, "echo": nil, "test": nil, "[": nil, "true": nil, "cd": nil, "pwd": nil, "basename": nil, "dirname": nil, "readlink": nil,
	"realpath": nil, "sha256sum": nil, "sha1sum": nil, "md5sum": nil, "strings": nil, "od": nil, "hexdump": nil, "jq": nil,
	"find": without("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls"),
	"rg":   without("--pre", "--hostname-bin"),
	"tree": without("-o", "-R"),
}

// without accepts arguments that include none of some options, with or without a value.
func without(options ...string) func(args []string) bool {
	return func(args []string) bool {
		return !slices.ContainsFunc(args, func(a string) bool {
			name, _, _ := strings.Cut(a, "=")
			return slices.Contains(options, name)
		})
	}
}
