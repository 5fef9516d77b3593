package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newCancelCommand(p *program) *cobra.Command {
	queued := false
	cmd := &cobra.Command{
		Use:        "cancel [POD]",
		SuggestFor: []string{"stop", "kill", "interrupt"},
		Short:      "Cancel the running turn of a pod",
		Long: "Cancels the pod's running turn, even if it is stuck. Queued prompts stay, and the next one " +
			"starts; with --queued they leave the queue first, as with Esc in podctl attach.",
		RunE: p.onPod(func(ctx context.Context, c *client.Client, pod string, _ []string) error {
			waiting, err := p.unqueue(ctx, c, pod, queued)
			if err != nil {
				return err
			}
			resp, err := c.Pods().Cancel(ctx, &poddv1.CancelRequest{Pod: pod})
			if err != nil {
				return err
			}
			if !resp.GetCancelled() {
				return p.print(resp, line("pod %s has no running turn", sanitize.Line(pod)))
			}
			if resp.GetTurn() == 0 {
				return p.print(resp, line("cancelled what pod %s was doing", sanitize.Line(pod)))
			}
			next := ""
			if n := len(waiting); n > 0 {
				next = fmt.Sprintf("; of %d queued, the next one runs now: podctl cancel --queued removes them too", n)
			}
			return p.print(resp, line("cancelled turn %d of pod %s%s", resp.GetTurn(), sanitize.Line(pod), next))
		}),
	}
	cmd.Flags().BoolVar(&queued, "queued", false, "remove the queued prompts too, and list them")
	return cmd
}

// unqueue returns the queued prompts of a pod. With remove it takes them out and lists them, and nothing
// waits.
func (p *program) unqueue(ctx context.Context, c *client.Client, pod string, remove bool) (waiting []*poddv1.InboxItem, err error) {
	resp, err := c.Pods().ListInbox(ctx, &poddv1.ListInboxRequest{Pod: pod})
	if err != nil || !remove {
		return resp.GetItems(), err
	}
	for _, it := range resp.GetItems() {
		_, err := c.Pods().CancelInboxItem(ctx, &poddv1.CancelInboxItemRequest{Pod: pod, RequestId: it.GetRequestId()})
		if item.KindOf(err) == item.KindNotFound {
			continue // A turn took it meanwhile.
		}
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(p.stderr, "removed %s: %s\n", sanitize.Line(it.GetRequestId()), beginning(it.GetText()))
	}
	return nil, nil
}
