package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// render says whether the Markdown of answers is shown or printed as it is.
type render string

const (
	// renderAuto renders on a terminal.
	renderAuto   render = "auto"
	renderRaw    render = "raw"
	renderAlways render = "always"
)

// String is the flag's value.
func (r *render) String() string { return string(*r) }

// Type names the value in the help.
func (r *render) Type() string { return "WHEN" }

// Set takes the flag's value.
func (r *render) Set(value string) error {
	switch render(value) {
	case renderAuto, renderRaw, renderAlways:
		*r = render(value)
		return nil
	}
	return fmt.Errorf("%q is not known: use auto, raw or always", value)
}

// register adds --render to a verb that shows answers.
func (r *render) register(cmd *cobra.Command) {
	cmd.Flags().Var(r, "render", "show Markdown: auto (on a terminal), raw (as it is) or always")
	completeWith(cmd, "render", string(renderAuto), string(renderRaw), string(renderAlways))
}
