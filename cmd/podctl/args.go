package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// verbArgs refuses arguments of a command that only has verbs: what stands there is
// an unknown one.
func verbArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown verb %q: did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return usagef("unknown verb %q: %s --help lists those that there are", args[0], cmd.CommandPath())
}

// argCount accepts from least to most arguments; what names them in the error, in
// the order in which they stand.
func argCount(least, most int, what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s needs %s: %s", cmd.CommandPath(), what[len(args)], cmd.UseLine())
		case most >= 0 && len(args) > most:
			return usagef("%s does not take the argument %q: %s", cmd.CommandPath(), args[most], cmd.UseLine())
		}
		return nil
	}
}

// flagError is the parser's error, said of a number where one was taken for a flag.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usageError{err}
	}
	number := unknown.GetSpecifiedShortnames()
	switch {
	case strings.Trim(number, "0123456789.") != "" || number == "":
		return usageError{err}
	case strings.Contains(cmd.Use, "SEQ"), strings.Contains(cmd.Use, "CALL"):
		return usagef("%s does not take -%s: numbers of entries, calls and alerts begin at 1", cmd.CommandPath(), number)
	}
	return usagef("%s has no flag -%s: put -- before text that begins with a dash", cmd.CommandPath(), number)
}

// usageError is a wrong command line.
type usageError struct{ error }

// Unwrap is the parser's error.
func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}
