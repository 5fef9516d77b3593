package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"podd/pkg/version"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version of podd",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "podd", version.String())
			return err
		},
	}
}
