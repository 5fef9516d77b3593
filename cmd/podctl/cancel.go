package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// cancelOptions are the flags of cancel.
type cancelOptions struct{ queued, all bool }

func (o *cancelOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "cancel [POD]",
		SuggestFor: []string{"stop", "kill", "interrupt"},
		Short:      "Cancel the running turn of a pod",
		Long: "Cancels the pod's running turn, even if it is stuck. Queued prompts stay, and the next one " +
			"starts; with --queued they leave the queue first, as with Esc in podctl attach. Sub-pods in the background work on, " +
			"and are named; with --all their turns are cancelled too.",
		RunE: p.onPod(o.run),
	}
	cmd.Flags().BoolVar(&o.queued, "queued", false, "remove the queued prompts too, and list them")
	cmd.Flags().BoolVar(&o.all, "all", false, "cancel the turns of the sub-pods in the background too")
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
	if err == nil {
		err = o.background(ctx, s)
	}
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
		if view.Taken(err) {
			continue // The turn that has it is cancelled.
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(s.stderr, "removed %s: %s\n", sanitize.Line(it.GetRequestId()), beginning(it.GetText()))
	}
	return nil
}

// background cancels the sub-pods in the background, or names those that work on.
func (o *cancelOptions) background(ctx context.Context, s *session) error {
	got, err := s.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: s.pod})
	if err != nil {
		return err
	}
	all, err := s.Pods().ListPods(ctx, &poddv1.ListPodsRequest{})
	if err != nil {
		return err
	}
	var left []string
	for _, p := range all.GetPods() {
		spec := p.GetSpec()
		if spec.GetParent() != got.GetPod().GetId() || spec.GetParentCall() != "" || p.GetState() == poddv1.PodState_POD_STATE_IDLE {
			continue
		}
		if !o.all {
			left = append(left, sanitize.Line(p.GetName()))
			continue
		}
		resp, err := s.Pods().Cancel(ctx, &poddv1.CancelRequest{Pod: p.GetId()})
		if err != nil && item.KindOf(err) != item.KindNotFound {
			return err
		}
		if resp.GetCancelled() {
			fmt.Fprintf(s.stderr, "cancelled sub-pod %s\n", sanitize.Line(p.GetName()))
		}
	}
	if len(left) > 0 {
		fmt.Fprintf(s.stderr, "in the background %s on: %s; podctl cancel --all %s cancels them\n", works(len(left)), strings.Join(left, ", "), sanitize.Line(s.pod))
	}
	return nil
}

func works(n int) string {
	if n == 1 {
		return "works"
	}
	return "work"
}
