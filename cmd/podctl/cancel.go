package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// cancelOptions are the flags of cancel.
type cancelOptions struct{ queued bool }

func (o *cancelOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "cancel [POD]",
		SuggestFor: []string{"stop", "kill", "interrupt"},
		Short:      "Cancel the running turn of a pod",
		Long: "Cancels the pod's running turn, even if it is stuck. Queued prompts stay, and the next one " +
			"starts; with --queued they leave the queue first, as with Esc in podctl attach.",
		RunE: p.onPod(o.run),
	}
	cmd.Flags().BoolVar(&o.queued, "queued", false, "remove the queued prompts too, and list them")
	return cmd
}

func (o *cancelOptions) run(ctx context.Context, s *session, _ []string) error {
	inbox, err := s.Pods().ListInbox(ctx, &poddv1.ListInboxRequest{Pod: s.pod})
	if err != nil {
		return err
	}
	waiting := inbox.GetItems()
	if o.queued {
		if err := removeQueued(ctx, s, waiting); err != nil {
			return err
		}
		waiting = nil
	}
	resp, err := s.Pods().Cancel(ctx, &poddv1.CancelRequest{Pod: s.pod})
	name, next := sanitize.Line(s.pod), ""
	switch {
	case !resp.GetCancelled():
		return s.answer(resp, err, line("pod %s has no running turn", name))
	case resp.GetTurn() == 0:
		return s.print(resp, line("cancelled what pod %s was doing", name))
	case len(waiting) > 0:
		next = fmt.Sprintf("; of %d queued, the next one runs now: podctl cancel --queued removes them too", len(waiting))
	}
	return s.print(resp, line("cancelled turn %d of pod %s%s", resp.GetTurn(), name, next))
}

// removeQueued takes prompts out of the inbox, and lists them.
func removeQueued(ctx context.Context, s *session, waiting []*poddv1.InboxItem) error {
	for _, it := range waiting {
		_, err := s.Pods().CancelInboxItem(ctx, &poddv1.CancelInboxItemRequest{Pod: s.pod, RequestId: it.GetRequestId()})
		if item.KindOf(err) == item.KindNotFound {
			continue // A turn took it meanwhile.
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(s.stderr, "removed %s: %s\n", sanitize.Line(it.GetRequestId()), beginning(it.GetText()))
	}
	return nil
}
