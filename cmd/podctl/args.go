package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// verbArgs refuses arguments of a command that only has subcommands: an argument is an
// unknown one.
func verbArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown command %q: did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return usagef("unknown command %q: %s --help lists the commands", args[0], cmd.CommandPath())
}

// operands checks the arguments against the command's usage line. It also refuses an
// empty argument: a shell passes one for a variable that is not set.
func operands(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	for i, name := range names {
		switch {
		case i >= len(args) && !strings.HasPrefix(name, "["):
			return usagef("%s needs %s: %s", cmd.CommandPath(), strings.Trim(name, "[]."), cmd.UseLine())
		case i < len(args) && args[i] == "" && !strings.Contains(name, "TEXT"):
			return usagef("%s: %s is empty: %s", cmd.CommandPath(), strings.Trim(name, "[]."), cmd.UseLine())
		case strings.Contains(name, "..."):
			return nil
		}
	}
	if len(args) > len(names) {
		return usagef("%s does not take the argument %q: %s", cmd.CommandPath(), args[len(names)], cmd.UseLine())
	}
	return nil
}

// podFlags lets every verb whose first argument is a POD take it as -p too, as submit
// does.
func (p *program) podFlags(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		p.podFlags(sub)
	}
	if operand := strings.Fields(cmd.Use); len(operand) < 2 || strings.Trim(operand[1], "[]") != "POD" {
		return
	}
	flag := cmd.Flags().StringP("pod", "p", "", "pod name, instead of the argument POD")
	named := func(args []string) []string {
		if cmd.Flags().Changed("pod") {
			return slices.Insert(slices.Clone(args), 0, *flag)
		}
		return args
	}
	check, run, complete := cmd.Args, cmd.RunE, cmd.ValidArgsFunction
	cmd.Args = func(cmd *cobra.Command, args []string) error { return check(cmd, named(args)) }
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd, named(args)) }
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return complete(cmd, named(args), start)
	}
	p.completePodFlag(cmd)
}

// flagError is the parser's error, with better words where a number was parsed as a flag.
func flagError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if wrong, ok := errors.AsType[errSequence](err); ok {
			return usagef("--%s: %w", invalid.GetFlag().Name, wrong)
		}
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok && strings.Contains(missing.GetFlag().Value.Type(), "|") {
		return usagef("--%s needs a value: %s", missing.GetSpecifiedName(), strings.ReplaceAll(missing.GetFlag().Value.Type(), "|", " or "))
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usageError{err}
	}
	number := unknown.GetSpecifiedShortnames()
	switch {
	case strings.Trim(number, "0123456789.") != "" || number == "":
		return usageError{err}
	case strings.Contains(cmd.Use, "SEQ"), strings.Contains(cmd.Use, "CALL"):
		return usagef("%s does not take -%s: numbers of entries, calls and alerts start at 1", cmd.CommandPath(), number)
	}
	return usagef("%s has no flag -%s: put -- before text that starts with a dash", cmd.CommandPath(), number)
}

// usageError is a wrong command line.
type usageError struct{ error }

// Unwrap is the parser's error.
func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}
