package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newForkCommand(p *program) *cobra.Command {
	var at int64
	cmd := &cobra.Command{
		Use:   "fork POD NEW",
		Short: "start a new pod on another's history",
		Long: "Makes the pod NEW, whose history is that of POD up to an entry, by default all of it. Nothing is\n" +
			"copied and POD is left alone; it may run on. Files are not copied either: both work in the same directory.",
		Example:           "  podctl fork api api-try --at 120",
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			if at < 1 && cmd.Flags().Changed("at") {
				return usageError{fmt.Errorf("--at %d is not the number of an entry: podctl tail shows them", at)}
			}
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().ForkPod(cmd.Context(), &poddv1.ForkPodRequest{Pod: valid(args[0]), Name: valid(args[1]), AtSeq: at})
				if err != nil {
					return err
				}
				place := ""
				if at > 0 {
					place = fmt.Sprintf(" at #%d", at)
				}
				return p.print(resp, line("forked %s from %s%s%s", sanitize.Line(resp.GetPod().GetName()), sanitize.Line(args[0]), place, leftover(resp)))
			})
		},
	}
	cmd.Flags().Var((*sequence)(&at), "at", "the last entry to take (podctl tail shows the numbers); by default all")
	return cmd
}

func newRewindCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "rewind POD SEQ",
		Short: "let a pod's history go on from an earlier entry",
		Long: "Takes back what came after the entry SEQ: requests don't carry it any more. It stays in the log and\n" +
			"can be read. Changes of files are not undone. No turn of the pod may run; one that can't go on is cancelled first.",
		Example:           "  podctl rewind api 120",
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			to, ok := parseSequence(args[1])
			if !ok || to < 1 {
				return usageError{fmt.Errorf("%q is not the number of an entry: podctl tail shows them", args[1])}
			}
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().RewindPod(cmd.Context(), &poddv1.RewindPodRequest{Pod: valid(args[0]), ToSeq: to})
				if err != nil {
					return err
				}
				return p.print(resp, line("rewound %s to #%d%s", sanitize.Line(args[0]), to, leftover(resp)))
			})
		},
	}
}

// leftover says what neither a fork nor a rewind undoes.
func leftover(resp interface {
	GetChangedFiles() []string
	GetCommands() int32
}) string {
	var parts []string
	if files := resp.GetChangedFiles(); len(files) > 0 {
		parts = append(parts, "files changed after this point stay as they are: "+sanitize.Line(strings.Join(files, ", ")))
	}
	if n := resp.GetCommands(); n > 0 {
		parts = append(parts, fmt.Sprintf("%s ran after this point; what they did stays", plural(int(n), "shell command")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "\n" + strings.Join(parts, "\n")
}
