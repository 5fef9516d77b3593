package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// completionPatience bounds how long a person waits after pressing the tab key.
const completionPatience = 500 * time.Millisecond

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletionCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script for a shell: " + strings.Join(shells, ", "),
		Long: "Prints the completion script for a shell: " + strings.Join(shells, ", ") + ".\n" +
			"podctl completion install writes it where your shell finds it.",
		ValidArgs: shells,
		RunE:      func(cmd *cobra.Command, args []string) error { return writeCompletion(p.stdout, cmd.Root(), args[0]) },
	}
	cmd.AddCommand(new(installOptions).command(p))
	return cmd
}

func writeCompletion(w io.Writer, root *cobra.Command, shell string) error {
	switch shell {
	case "bash":
		return bashCompletion(w, root)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return usagef("unknown shell %q: use %s", shell, strings.Join(shells, ", "))
}

// finder finds what completes a word, and offers each with a description.
type finder func(ctx context.Context, s *session, offer func(value, about string)) error

// found are what a finder finds that begin with start and are not among args. It is silent when podd does not
// answer.
func (p *program) found(ctx context.Context, args []string, start string, find finder) (found []cobra.Completion) {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	_ = p.with(func(s *session) error {
		return find(ctx, s, func(value, about string) {
			if strings.HasPrefix(value, start) && !slices.Contains(args, value) {
				found = append(found, cobra.CompletionWithDesc(sanitize.Line(value), sanitize.Line(about)))
			}
		})
	})
	return found
}

// complete offers what a finder finds for the first operands, most of them at most.
func (p *program) complete(most int, find finder) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, start string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) < most {
			found = p.found(cmd.Context(), args, start, find)
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeOfPod offers the pods for the first operand, and what a finder finds of that pod for those behind it.
func (p *program) completeOfPod(most int, find finder) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return p.complete(1, pods)(cmd, args, start)
		}
		return p.complete(most, func(ctx context.Context, s *session, offer func(value, about string)) error {
			s.pod = valid(args[0])
			return find(ctx, s, offer)
		})(cmd, args[1:], start)
	}
}

// completeFlag offers what a finder finds for a flag.
func (p *program) completeFlag(cmd *cobra.Command, flag string, find finder) {
	mustRegister(cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return p.complete(1, find)(cmd, nil, start)
	}))
}

// pods finds the pods.
func pods(ctx context.Context, s *session, offer func(value, about string)) error {
	resp, err := s.Pods().ListPods(ctx, &poddv1.ListPodsRequest{})
	for _, pod := range resp.GetPods() {
		offer(pod.GetName(), pod.GetSpec().GetDir())
	}
	return err
}

// completeWith offers fixed values for a flag.
func completeWith(cmd *cobra.Command, flag string, values ...string) {
	mustRegister(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// completeFiles leaves the operands to the shell, which offers files.
var completeFiles = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)

// completeAliases offers the other names of verbs; cobra offers the first ones.
func completeAliases(cmd *cobra.Command, args []string, start string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, sub := range cmd.Commands() {
		for _, alias := range sub.Aliases {
			if len(args) == 0 && strings.HasPrefix(alias, start) {
				found = append(found, cobra.CompletionWithDesc(alias, sub.Short))
			}
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// mustRegister panics on err, which can only mean that a flag's name is misspelt here.
func mustRegister(err error) {
	if err != nil {
		panic(err)
	}
}

// installShells are the shells that find a completion script in a directory of their user.
var installShells = []string{"bash", "zsh", "fish"}

// installOptions are the flags of completion install.
type installOptions struct{ shell string }

func (o *installOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the completion script for your shell",
		Long: "Writes the completion script where your shell finds it, and says what is left to do. The shell is that of " +
			"$SHELL or --shell. Running it again brings the script up to date.",
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(p, cmd.Root()) },
	}
	cmd.Flags().StringVar(&o.shell, "shell", "", "bash, zsh or fish (default: that of $SHELL)")
	completeWith(cmd, "shell", installShells...)
	return cmd
}

func (o *installOptions) run(p *program, root *cobra.Command) error {
	if o.shell == "" && p.env("SHELL") == "" {
		return usagef("$SHELL is not set: name your shell with --shell bash, zsh or fish")
	}
	shell := cmp.Or(o.shell, filepath.Base(p.env("SHELL")))
	file, next, err := completionFile(p.env, shell)
	if err != nil {
		return err
	}
	var script bytes.Buffer
	if err := writeCompletion(&script, root, shell); err != nil {
		return err
	}
	done := "is up to date"
	if old, err := os.ReadFile(file); err != nil || !bytes.Equal(old, script.Bytes()) {
		done = "is installed"
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // It is as public as the shell's own.
			return fmt.Errorf("cannot install the completion script: %w", err)
		}
		if err := os.WriteFile(file, script.Bytes(), 0o644); err != nil { //nolint:gosec // The same.
			return fmt.Errorf("cannot install the completion script: %w", err)
		}
	}
	_, err = fmt.Fprintf(p.stdout, "%s %s\n%s\n", sanitize.Line(file), done, sanitize.Line(next))
	return err
}

// completionFile is where a shell finds the script, and what the user does next.
func completionFile(env func(string) string, shell string) (file, next string, err error) {
	home := env("HOME")
	if !filepath.IsAbs(home) {
		return "", "", usagef("HOME is not set, so podctl cannot find your shell's directory: set it, or use podctl completion %s", shell)
	}
	data := cmp.Or(env("XDG_DATA_HOME"), filepath.Join(home, ".local/share"))
	switch shell {
	case "bash":
		return filepath.Join(data, "bash-completion/completions/podctl"),
			"Open a new shell. If podctl does not complete there, install the package bash-completion.", nil
	case "zsh":
		dir := filepath.Join(data, "zsh/site-functions")
		return filepath.Join(dir, "_podctl"), "Add this line to ~/.zshrc above compinit, then open a new shell: fpath+=(" + dir + ")", nil
	case "fish":
		return filepath.Join(cmp.Or(env("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "fish/completions/podctl.fish"),
			"It works in each new shell.", nil
	}
	return "", "", usagef("no completion for the shell %q: name yours with --shell bash, zsh or fish", shell)
}

// bashReferences completes words that begin with @. A completion of podctl may begin
// differently from the word: with a quote, or in another directory. A single completion
// replaces the word. Of several, bash inserts their common start; if that would lose the
// word, a blank completion beside them leaves nothing in common, so that bash only shows
// them. All are escaped: names of files must not be commands.
const bashReferences = `
__podctl_handle_references()
{
    local completion other=
    for completion in "${completions[@]}"; do
        printf -v completion "%q" "$completion"
        [[ $completion == "$cur"* ]] || other=1
        COMPREPLY+=("$completion")
    done
    if [[ -n $other ]] && ((${#COMPREPLY[@]} > 1)); then
        COMPREPLY+=(" ")
    fi
}
`

// bashWords finds the words of the command line if the package bash-completion is not
// installed. bash has split them at = : and @, which does not end a word here.
const bashWords = `    local i word rest=$COMP_LINE
    words=() cword=0
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ $rest != [[:space:]]* && ( $word == [=:@]* || ${words[${#words[@]}-1]} == *[=:@] ) ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        rest=${rest#"${rest%%[![:space:]]*}"}
        rest=${rest#"$word"}
        if ((i == COMP_CWORD)); then
            cword=$((${#words[@]} - 1))
        fi
    done
    cur=${words[cword]}
    prev=${words[cword > 0 ? cword - 1 : 0]}
`

// bashChanges makes cobra's script handle words that begin with @. bash ends a word at @
// (COMP_WORDBREAKS), as at = and :, which the script handles.
var bashChanges = [][2]string{
	{"    _get_comp_words_by_ref \"$@\" cur prev words cword\n", bashWords},
	{"_init_completion -n =:", "_init_completion -n =:@"},
	{"        __podctl_handle_completion_types\n",
		"        if [[ $cur == @* ]]; then\n            __podctl_handle_references\n        else\n            __podctl_handle_completion_types\n        fi\n"},
	{"    __podctl_handle_special_char \"$cur\" =\n",
		"    __podctl_handle_special_char \"$cur\" =\n    __podctl_handle_special_char \"$cur\" @\n"},
	{"\n__start_podctl()", bashReferences + "\n__start_podctl()"},
}

// bashCompletion writes the completion script of bash.
func bashCompletion(w io.Writer, root *cobra.Command) error {
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	script := b.String()
	for _, c := range bashChanges {
		if !strings.Contains(script, c[0]) {
			return fmt.Errorf("the completion script of bash has no %q to change", c[0])
		}
		script = strings.ReplaceAll(script, c[0], c[1])
	}
	_, err := io.WriteString(w, script)
	return err
}
