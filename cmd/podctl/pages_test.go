package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"podd/internal/testing/pages"
)

// podctl accepts each podctl command line in the documentation: the verb and its flags
// exist, and the values and the number of arguments are right.
func TestPagesShowCommandsThatParse(t *testing.T) {
	all, err := pages.All("../..")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, page := range all {
		commands, err := page.Commands("podctl")
		if err != nil {
			t.Error(err)
		}
		for _, c := range commands {
			shown++
			if err := parse(c); err != nil {
				t.Errorf("%s: %s\n\t%v", c.Where, strings.Join(c.Args, " "), err)
			}
		}
	}
	if shown < 150 {
		t.Errorf("the documentation shows %d command lines", shown)
	}
}

// parse does what podctl does with a command line before it runs the verb.
func parse(c pages.Command) error {
	root := newRootCommand(&program{stdin: strings.NewReader(""), env: func(string) string { return "" }, now: time.Now})
	cmd, rest, err := root.Find(c.Args[1:])
	if err != nil {
		return err
	}
	err = cmd.ParseFlags(rest)
	_, invalid := errors.AsType[*pflag.InvalidValueError](err)
	_, missing := errors.AsType[*pflag.ValueRequiredError](err)
	if errors.Is(err, pflag.ErrHelp) || c.Mention && (invalid || missing) {
		return nil
	}
	if err != nil || c.Mention && cmd != root {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

func TestCommandsThatDoNotParse(t *testing.T) {
	for _, line := range []string{
		"podctl sumbit x", "podctl list --verbose", "podctl delete", "podctl show a b", "podctl tail --after x", "podctl mcp lost",
	} {
		if parse(pages.Command{Args: strings.Fields(line)}) == nil {
			t.Errorf("%s parses", line)
		}
	}
}
