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
	// runner runs its arguments as a command.
	runner
	// shell runs a script, the code behind -c, or its input.
	shell
	// evaluator accepts shell code anywhere in its arguments.
	evaluator
	// interpreter accepts code in another language, or a script and its arguments.
	interpreter
	// editor accepts code in its own language anywhere.
	editor
)

// kinds are the best known programs that run what their arguments say. No list of such
// programs is complete: it keeps people from rules that would allow any command, and lets
// a rule that denies see through the usual wrappers. If a line names a denied command in
// the arguments of any other program, the call asks (seen.names).
var kinds = byName(map[kind]string{
	runner:      "env sudo doas xargs nohup nice time timeout stdbuf setsid command builtin exec busybox npx bunx pnpx uvx",
	shell:       "sh bash dash ash ksh zsh fish source .",
	evaluator:   "eval trap ssh su watch",
	interpreter: "python perl ruby node php lua",
	editor:      "awk sed vi vim nvim emacs deno bun read",
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

// programName is a program's name without directory, case and version:
// /usr/bin/Python3.12 is python.
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

// runs says whether the words after a word are a command to run: uv run, npm exec. The
// programs listed here run something of the workspace by its name instead: a script, a
// target, a check.
func runs(program, word string) bool {
	switch word {
	case "exec", "dlx":
		return true
	case "x":
		return slices.Contains([]string{"npm", "bun", "mise"}, programName(program))
	case "run":
		return !slices.Contains(strings.Fields("npm pnpm yarn cargo make just golangci-lint pre-commit vitest"), programName(program))
	}
	return false
}

// runVerb is the index of the word after which a command to run begins; 0 if there is no
// such word. It is the first or the second after the program, or any after options.
func runVerb(words []string) int {
	for i := 1; i < len(words); i++ {
		if i > 2 && !strings.HasPrefix(words[1], "-") {
			break
		}
		if runs(words[0], words[i]) {
			return i
		}
	}
	return 0
}

// checkAllowed refuses a command of a rule that allows if its wildcards would allow any
// command; joined says that it is a part of a longer line.
func checkAllowed(words []patternWord, joined bool) error {
	if !words[0].literal() {
		return errors.New("has a wildcard in the program's name, which would allow any program: write the name")
	}
	program := words[0].parts[0]
	k, wild := kindOf(program), slices.ContainsFunc(words, func(w patternWord) bool { return !w.literal() })
	second := len(words) > 1 && words[1].literal() && words[1].parts[0] != "" && !strings.HasPrefix(words[1].parts[0], "-")
	script := second && (k == interpreter || k == shell)
	switch {
	case k != ordinary && wild && !script:
		return fmt.Errorf("has a wildcard after %s, which runs what its arguments say, so that any command would be allowed: write the whole command", quoted(program))
	case k == shell && len(words) == 1 && !joined:
		return fmt.Errorf("is a shell alone, which runs what is piped into it: write the whole line that it is a part of")
	case programName(program) == "git" && wild && !second:
		return errors.New("has a wildcard for git's own command, and git runs what its options and aliases say: write the command, as in \"git log *\"")
	case programName(program) == "git" && wild && slices.Contains([]string{"config", "filter-branch", "mergetool"}, words[1].parts[0]):
		return fmt.Errorf("has a wildcard after git %s, which can make git run any command: write the whole command", words[1].parts[0])
	case wild:
		return checkRunVerb(words)
	}
	return nil
}

// checkRunVerb refuses a wildcard for the command after a word such as run or exec.
func checkRunVerb(words []patternWord) error {
	var texts []string
	for _, w := range words {
		if !w.literal() {
			break
		}
		texts = append(texts, w.parts[0])
	}
	verb := runVerb(texts)
	if verb == 0 {
		return nil
	}
	// Words before a -- name a place to run in: kubectl exec pod -- command.
	from := verb + 1
	if i := slices.Index(texts[from:], "--"); i >= 0 {
		from += i + 1
	}
	if from == len(texts) || strings.HasPrefix(texts[from], "-") {
		behind := strings.Join(texts[:verb+1], " ")
		return fmt.Errorf("has a wildcard after %s, which runs the command behind it, so that any command would be allowed: write that command first, as in %s",
			quoted(behind), quoted(behind+" PROGRAM *"))
	}
	for i := from; i < len(texts); i++ {
		if kindOf(texts[i]) != ordinary {
			return checkAllowed(words[i:], true)
		}
	}
	return nil
}
