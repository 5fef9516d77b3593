package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"podd/internal/typo"
	"podd/pkg/item"
)

// verbArgs refuses arguments of a command that only has subcommands: an argument is an
// unknown one.
func verbArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = min(2, 1+len(args[0])/4)
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown command %q: did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return usagef("unknown command %q: %s --help lists the commands", args[0], cmd.CommandPath())
}

// helpArgs refuses the help of a command that does not exist.
func helpArgs(cmd *cobra.Command, args []string) error {
	of, rest, err := cmd.Root().Find(args)
	if err != nil {
		return usageError{err}
	}
	return verbArgs(of, rest)
}

// operands checks the arguments against the command's usage line. It also refuses an
// empty argument: a shell passes one for a variable that is not set.
func operands(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	for i, name := range names {
		switch {
		case i >= len(args) && !strings.HasPrefix(name, "["):
			return usagef("%s needs %s: %s", verbOf(cmd), strings.Trim(name, "[]."), usageOf(cmd))
		case i < len(args) && args[i] == "" && !strings.Contains(name, "TEXT"):
			return usagef("%s: %s is empty: %s", verbOf(cmd), strings.Trim(name, "[]."), usageOf(cmd))
		case strings.Contains(name, "..."):
			return nil
		}
	}
	if len(args) > len(names) {
		return usagef("%s does not take the argument %q: %s", verbOf(cmd), args[len(names)], usageOf(cmd))
	}
	return nil
}

// finish gives each verb what its usage line says: a check and completions of its operands, and -p for POD. A
// command that does nothing itself has subcommands.
func (p *program) finish(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		p.finish(sub)
	}
	if cmd.RunE == nil {
		cmd.Args, cmd.RunE = verbArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		return
	}
	if cmd.Args == nil {
		cmd.Args = operands
	}
	operand := strings.Fields(cmd.Use)
	pod := len(operand) > 1 && strings.Trim(operand[1], "[]") == "POD"
	switch {
	case cmd.ValidArgsFunction != nil, len(cmd.ValidArgs) > 0:
	case pod:
		cmd.ValidArgsFunction = p.complete(1, pods)
	default:
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	if pod {
		p.podFlag(cmd, operand[1])
	}
}

// podFlag lets a verb whose first operand is POD take it as -p too, as submit does. Where the usage line has
// [POD], the verb runs with "" in its place if it was not given.
func (p *program) podFlag(cmd *cobra.Command, operand string) {
	usage := "pod name, instead of the argument POD"
	if strings.HasPrefix(operand, "[") {
		usage += " (default: " + cmp.Or(cmd.Annotations[withoutPodKey], "$PODD_POD, else the pod of this directory") + ")"
	}
	flag := cmd.Flags().StringP("pod", "p", "", usage)
	whole := func(args []string) []string {
		switch {
		case cmd.Flags().Changed("pod"):
			return slices.Insert(slices.Clone(args), 0, *flag)
		case !p.podGiven(cmd, args):
			return slices.Insert(slices.Clone(args), 0, podHere)
		}
		return args
	}
	check, prepare, run, complete := cmd.Args, cmd.PreRunE, cmd.RunE, cmd.ValidArgsFunction
	cmd.Args = func(cmd *cobra.Command, args []string) error { return check(cmd, whole(args)) }
	if prepare != nil {
		cmd.PreRunE = func(cmd *cobra.Command, args []string) error { return prepare(cmd, whole(args)) }
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if args = whole(args); args[0] != podHere {
			return run(cmd, args)
		}
		return withoutOperand(cmd, run, args)
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if cmd.Flags().Changed("pod") {
			return complete(cmd, whole(args), start)
		}
		return p.completeBehindPod(cmd, complete, args, start)
	}
	p.completeFlag(cmd, "pod", pods)
}

// withoutOperand runs a verb for the pod here. Where no pod is, a path that has the name of a pod is the pod.
func withoutOperand(cmd *cobra.Command, run func(*cobra.Command, []string) error, args []string) error {
	args[0] = ""
	err := run(cmd, args)
	if item.ReasonOf(err) != reasonNoPod || item.KindOf(err) != item.KindNotFound || len(args) == 1 {
		return err
	}
	if strings.HasSuffix(cmd.Use, "[PATH...]") && len(args) == 2 && item.ValidPodRef(args[1]) {
		if other := run(cmd, args[1:]); item.ReasonOf(other) != "POD_NOT_FOUND" {
			return other
		}
	}
	return item.Errorf(item.KindNotFound, reasonNoPod, "no pod has the current directory as its workspace: name the pod, as in %s", usageOf(cmd))
}

// withoutPod annotates a verb that does not take the pod here if POD is missing: it is then
// about something else, such as all pods.
func withoutPod(about string) map[string]string { return map[string]string{withoutPodKey: about} }

const withoutPodKey = "without-pod"

// podHere stands for a POD that was left out, until a verb runs. No argument is equal to
// it: one has no NUL byte.
const podHere = "\x00"

// completeBehindPod completes an argument with what complete offers for it. Where POD may be left out,
// that is the pods for the first argument, and what complete offers behind POD.
func (p *program) completeBehindPod(cmd *cobra.Command, complete cobra.CompletionFunc, args []string, start string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	if p.podGiven(cmd, nil) || len(args) > 0 && p.podGiven(cmd, append(slices.Clone(args), start)) {
		return complete(cmd, args, start)
	}
	if len(args) == 0 {
		found = p.found(cmd.Context(), nil, start, pods)
	}
	here := ""
	if len(strings.Fields(cmd.Use)) > 2 {
		here = p.podOfDir(cmd.Context())
	}
	if here == "" {
		return found, cobra.ShellCompDirectiveNoFileComp
	}
	more, directive := complete(cmd, slices.Insert(slices.Clone(args), 0, here), start)
	return append(found, more...), directive
}

// podGiven says whether the first argument is the POD of a usage line. If one argument is
// missing, it is POD. Where more may be missing, the first one is POD if a pod can have that
// name, which a number is not; but a single word for a note is the note, and a single path that
// exists is the path.
func (p *program) podGiven(cmd *cobra.Command, args []string) bool {
	names := strings.Fields(cmd.Use)[1:]
	switch {
	case names[0] == "POD":
		return true
	case len(args) == 0:
		return false
	case len(names) == 1 || args[0] == "" && len(args) > 1:
		return true
	}
	switch names[1] {
	case "ID...", "[IMAGE]":
		return item.ValidPodRef(args[0])
	case "[PATH...]":
		_, err := os.Lstat(args[0])
		return item.ValidPodRef(args[0]) && (len(args) > 1 || err != nil)
	case "[CALL]":
		return item.ValidPodRef(args[0])
	case "[TEXT...]":
		return item.ValidPodRef(args[0]) && (len(args) > 1 || fed(p.stdin))
	}
	return len(args) >= len(names)
}

// podOfDir is the pod whose calls, jobs or prompts are offered if none is named; "" if
// podd does not answer or no pod is here.
func (p *program) podOfDir(ctx context.Context) (name string) {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	_ = p.with(func(s *session) (err error) {
		name, _, err = s.choose(ctx, "", nil)
		return err
	})
	return name
}

// flagError is the parser's error, with better words where a number was parsed as a flag.
func flagError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return invalidValue(invalid)
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		flag := missing.GetFlag()
		if strings.Contains(flag.Value.Type(), "|") {
			return usagef("--%s needs a value: %s", flag.Name, strings.ReplaceAll(flag.Value.Type(), "|", " or "))
		}
		return usagef("--%s needs a value", flag.Name)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usageError{err}
	}
	number := unknown.GetSpecifiedShortnames()
	switch {
	case strings.Trim(number, "0123456789.") != "" || number == "":
		return unknownFlag(cmd, unknown)
	case strings.Contains(cmd.Use, "SEQ"), strings.Contains(cmd.Use, "CALL"):
		return usagef("%s does not take -%s: numbers of entries, calls and alerts start at 1", verbOf(cmd), number)
	}
	return usagef("%s has no flag -%s: put -- before text that starts with a dash", verbOf(cmd), number)
}

// invalidValue says what a flag takes.
func invalidValue(invalid *pflag.InvalidValueError) error {
	flag, cause := invalid.GetFlag(), invalid.Unwrap()
	if flag.Value.Type() == "duration" {
		return usagef("--%s: %q is not a duration: write 90s, 30m or 2h", flag.Name, invalid.GetValue())
	}
	if _, ok := errors.AsType[*strconv.NumError](cause); !ok && !strings.Contains(cause.Error(), "strconv.") {
		return usagef("--%s: %w", flag.Name, cause)
	}
	takes := "a number"
	if flag.Value.Type() == "bool" {
		takes = "true or false"
	}
	return usagef("--%s takes %s, not %q", flag.Name, takes, invalid.GetValue())
}

// unknownFlag names the flag that was probably meant.
func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	flag := "--" + unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		flag = "-" + unknown.GetSpecifiedName()
	}
	known := fmt.Sprintf("%s --help lists its flags", cmd.CommandPath())
	if (flag == "-p" || flag == "--pod") && cmd.HasParent() {
		return usagef("%s has no flag %s, because it is not about one pod: podctl show POD shows a pod", verbOf(cmd), flag)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := typo.Nearest(unknown.GetSpecifiedName(), names); near != "" && strings.HasPrefix(flag, "--") {
		known = fmt.Sprintf("did you mean --%s?", near)
	}
	if !cmd.HasParent() {
		return usagef("unknown flag %s: %s", flag, known)
	}
	return usagef("%s has no flag %s: %s", verbOf(cmd), flag, known)
}

// verbOf names a verb in an error, which begins with the program's name.
func verbOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// usageOf is how a verb is typed.
func usageOf(cmd *cobra.Command) string { return strings.TrimSuffix(cmd.UseLine(), " [flags]") }

// usageError is a wrong command line.
type usageError struct{ error }

// Unwrap is the parser's error.
func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// parseSequence reads the number of an entry, a call or an alert, also as podctl shows
// it: 120, #120. It is 0 or more.
func parseSequence(text string) (seq int64, ok bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 10, 63)
	return int64(n), err == nil //nolint:gosec // 63 bits
}

// numberOf reads an operand that is the number of something, such as "an entry: podctl tail lists them".
func numberOf(arg, what string) (int64, error) {
	seq, ok := parseSequence(arg)
	if !ok || seq < 1 {
		return 0, usagef("%q is not the number of %s", arg, what)
	}
	return seq, nil
}

// sequence is a flag's sequence.
type sequence int64

// errSequence is why a flag's value is refused; flagError names the flag.
type errSequence string

// Error is a sentence without the flag.
func (e errSequence) Error() string {
	return fmt.Sprintf("%q is not a number: write 120 or #120", string(e))
}

// Set takes the flag's value.
func (s *sequence) Set(value string) error {
	seq, ok := parseSequence(value)
	if !ok {
		return errSequence(value)
	}
	*s = sequence(seq)
	return nil
}

// String is the flag's value.
func (s *sequence) String() string { return strconv.FormatInt(int64(*s), 10) }

// Type names the value in the help.
func (s *sequence) Type() string { return "SEQ" }
