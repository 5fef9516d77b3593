package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func newInboxCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inbox [POD]",
		Short: "List the queued prompts of a pod",
		Long:  "Lists the queued prompts of a pod, the next one first.",
		RunE: p.onPod(func(ctx context.Context, c *client.Client, pod string, _ []string) error {
			resp, err := c.Pods().ListInbox(ctx, &poddv1.ListInboxRequest{Pod: pod})
			if err != nil {
				return err
			}
			return printEach(p, resp.GetItems(), func() error { return p.inboxTable(p.stdout, pod, resp.GetItems()) })
		}),
	}
	cmd.AddCommand(newInboxRmCommand(p))
	return cmd
}

func newInboxRmCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:               "rm [POD] REQUEST_ID",
		Short:             "Remove a queued prompt",
		ValidArgsFunction: p.completeRequests,
		RunE: func(cmd *cobra.Command, args []string) error {
			id := valid(args[1])
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				resp, err := c.Pods().ListInbox(cmd.Context(), &poddv1.ListInboxRequest{Pod: pod})
				if err != nil {
					return err
				}
				if _, err := c.Pods().CancelInboxItem(cmd.Context(), &poddv1.CancelInboxItemRequest{Pod: pod, RequestId: id}); err != nil {
					return err
				}
				removed := &poddv1.InboxItem{RequestId: id}
				for _, it := range resp.GetItems() {
					if it.GetRequestId() == id {
						removed = it
					}
				}
				return p.print(removed, line("removed %s from the inbox of pod %s", sanitize.Line(id), sanitize.Line(pod)))
			})
		},
	}
}

func (p *program) inboxTable(w io.Writer, pod string, items []*poddv1.InboxItem) error {
	if len(items) == 0 {
		_, err := fmt.Fprintf(p.stderr, "pod %s has no queued prompts\n", sanitize.Line(pod))
		return err
	}
	t := newTable(w)
	fmt.Fprintln(t, "SEQ\tREQUEST ID\tMODE\tSUBMITTED\tTEXT")
	for _, it := range items {
		fmt.Fprintf(t, "#%d\t%s\t%s\t%s\t%s\n", it.GetSeq(), sanitize.Line(it.GetRequestId()), wire.SubmitModeFromProto(it.GetMode()),
			stamp(it.GetTime().AsTime()), beginning(it.GetText()))
	}
	return t.Flush()
}

// completeRequests offers the pods, and then the submits of one that wait.
func (p *program) completeRequests(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.completeOfPod(cmd, args, start, func(ctx context.Context, c *client.Client, pod string, offer func(value, about string)) error {
		resp, err := c.Pods().ListInbox(ctx, &poddv1.ListInboxRequest{Pod: pod})
		for _, it := range resp.GetItems() {
			offer(it.GetRequestId(), beginning(it.GetText()))
		}
		return err
	})
}

// beginning is the first line of text, safe and not long.
func beginning(text string) string {
	first, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if len(first) > maxBeginning {
		first, more = strings.ToValidUTF8(first[:maxBeginning], ""), true
	}
	if more {
		first += "…"
	}
	return sanitize.Line(first)
}

// maxBeginning bounds what a table shows of a text, in bytes.
const maxBeginning = 60
