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

func newRestoreCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "restore POD [NEW]",
		Short: "Bring a deleted pod back",
		Long: "Brings a deleted pod back, with the sub-pods that were deleted with it. POD is its old name or its id: of " +
			"several with the name, the last deleted. NEW is its name from now on. podctl list --trash shows the deleted " +
			"pods.",
		Example:           "  podctl list --trash\n  podctl restore api\n  podctl restore api api-2",
		ValidArgsFunction: p.complete(1, trashed),
		RunE:              p.onPodd(runRestore),
	}
}

func runRestore(ctx context.Context, s *session, args []string) error {
	resp, err := s.Pods().RestorePod(ctx, &poddv1.RestorePodRequest{Pod: valid(args[0]), Name: valid(strings.Join(args[1:], ""))})
	return s.answer(resp.GetPod(), err, line("restored pod %s", sanitize.Line(resp.GetPod().GetName())))
}

// trashed finds the deleted pods.
func trashed(ctx context.Context, s *session, offer func(value, about string)) error {
	resp, err := s.Pods().ListTrash(ctx, &poddv1.ListTrashRequest{})
	for _, pod := range resp.GetPods() {
		offer(pod.GetPod().GetName(), pod.GetPod().GetSpec().GetDir())
	}
	return err
}

// listTrash lists the deleted pods.
func listTrash(ctx context.Context, s *session) error {
	resp, err := s.Pods().ListTrash(ctx, &poddv1.ListTrashRequest{})
	if err != nil {
		return err
	}
	return list(s.program, resp.GetPods(), "the trash is empty", "NAME\tID\tTURN\tDELETED\tKEPT UNTIL\tDIR", func(t *poddv1.TrashedPod) []any {
		pod, ago := t.GetPod(), view.Duration(s.now().Sub(t.GetDeletedAt().AsTime()))+" ago"
		return []any{pod.GetName(), pod.GetId(), pod.GetTurn(), ago, stamp(t.GetPurgeAt().AsTime()), pod.GetSpec().GetDir()}
	})
}
