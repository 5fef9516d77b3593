package notes

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/wire"
)

// NewCommand is the verb note. connect is the way to podd, as podctl's verbs have it.
func NewCommand(connect func() (*client.Client, error)) *cobra.Command {
	cmd := &cobra.Command{Use: "note", Short: "Write notes into the history of a pod"}
	cmd.AddCommand(newAddCommand(connect), newListCommand(connect))
	return cmd
}

func newAddCommand(connect func() (*client.Client, error)) *cobra.Command {
	return &cobra.Command{
		Use:   "add POD TEXT...",
		Short: "Write a note that people read in the history of a pod",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect()
			if err != nil {
				return err
			}
			seq, err := add(cmd.Context(), c.Conn(), args[0], strings.Join(args[1:], " "))
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote a note into pod %s (#%d)\n", sanitize.Line(args[0]), seq)
			}
			return errors.Join(err, c.Close())
		},
	}
}

func newListCommand(connect func() (*client.Client, error)) *cobra.Command {
	return &cobra.Command{
		Use:   "list POD",
		Short: "List the notes in the history of a pod",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect()
			if err != nil {
				return err
			}
			return errors.Join(printNotes(cmd, c, args[0]), c.Close())
		},
	}
}

func printNotes(cmd *cobra.Command, c *client.Client, pod string) error {
	entries, err := list(cmd.Context(), c.Conn(), pod)
	for err == nil {
		e, more := entries.Recv()
		if errors.Is(more, io.EOF) {
			return nil
		}
		if more != nil {
			return more
		}
		var n Note
		if n, err = Of(wire.EntryFromProto(e)); err == nil {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "#%d  %s\n", n.Seq, sanitize.Line(n.Text))
		}
	}
	return err
}
