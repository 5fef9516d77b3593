package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// deleteOptions are the flags of delete.
type deleteOptions struct {
	now, checkout bool
	drop          []string
}

func (o *deleteOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "delete POD",
		Aliases: []string{"rm"},
		Short:   "Delete a pod",
		Long: "Deletes a pod and its sub-pods: cancels their turns, ends their jobs and empties their inboxes. podctl restore " +
			"brings them back, for 14 days unless podd's configuration says otherwise. With --now they are gone for good, " +
			"and POD may be one that was deleted before. The workspace is not touched. A checkout that podd made for the pod " +
			"stays, and --checkout removes it too, unless it has something that is nowhere else: then nothing is deleted.",
		Example: "  podctl delete fix-login --checkout --drop node_modules",
		RunE:    p.onPodd(o.run),
	}
	cmd.Flags().BoolVar(&o.now, "now", false, "remove the pod and its log for good")
	cmd.Flags().BoolVar(&o.checkout, "checkout", false, "also remove the checkout that podd made for it")
	cmd.Flags().StringArrayVar(&o.drop, "drop", nil, "with --checkout, a file or directory in it that may be lost; repeatable")
	completeWith(cmd, "drop")
	return cmd
}

func (o *deleteOptions) run(ctx context.Context, s *session, args []string) error {
	if len(o.drop) > 0 && !o.checkout {
		return usagef("--drop is for the removal of a checkout: add --checkout")
	}
	pod := valid(args[0])
	deleted, err := s.Pod(ctx, pod)
	if (o.now || o.checkout) && item.KindOf(err) == item.KindNotFound {
		deleted, err = &poddv1.Pod{Id: pod, Name: pod}, nil
	}
	if err != nil {
		return err
	}
	// By its id: another pod may have the name by now.
	resp, err := s.Pods().DeletePod(ctx, &poddv1.DeletePodRequest{Pod: deleted.GetId(), Now: o.now, Checkout: o.checkout, Drop: o.drop})
	if err != nil {
		return err
	}
	name := sanitize.Line(deleted.GetName())
	what, it := "pod "+name, "it"
	if o.checkout {
		what, it = what+" and its checkout", "both"
	}
	says := "deleted " + what + " for good"
	if resp.GetPurgeAt() != nil {
		says = fmt.Sprintf("deleted %s; until %s, podctl restore %s brings %s back", what, stamp(resp.GetPurgeAt().AsTime()), name, it)
	}
	if resp.GetCheckout() != "" {
		says += fmt.Sprintf("\nits checkout stays in %s; podctl delete %s --checkout removes it", sanitize.Line(resp.GetCheckout()), name)
	}
	return s.print(deleted, line("%s", says))
}
