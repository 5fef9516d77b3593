package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newDeleteCommand(p *program) *cobra.Command {
	req := &poddv1.DeletePodRequest{}
	cmd := &cobra.Command{
		Use:     "delete POD",
		Aliases: []string{"rm"},
		Short:   "Delete a pod",
		Long: "Deletes a pod and its sub-pods: cancels their turns, ends their jobs and empties their inboxes. podctl restore " +
			"brings them back, for 14 days unless podd's configuration says otherwise. With --now they are gone for good, " +
			"and POD may be one that was deleted before. The workspace is not touched. A checkout that podd made for the pod " +
			"stays, and --checkout removes it too, unless it has something that is nowhere else: then nothing is deleted.",
		Example: "  podctl delete fix-login --checkout --drop node_modules",
		RunE: p.onPodd(func(ctx context.Context, c *client.Client, args []string) error {
			req.Pod = valid(args[0])
			return p.deletePod(ctx, c, req)
		}),
	}
	cmd.Flags().BoolVar(&req.Now, "now", false, "remove the pod and its log for good")
	cmd.Flags().BoolVar(&req.Checkout, "checkout", false, "also remove the checkout that podd made for it")
	cmd.Flags().StringArrayVar(&req.Drop, "drop", nil, "with --checkout, a file or directory in it that may be lost; repeatable")
	completeWith(cmd, "drop")
	return cmd
}

func (p *program) deletePod(ctx context.Context, c *client.Client, req *poddv1.DeletePodRequest) error {
	if len(req.GetDrop()) > 0 && !req.GetCheckout() {
		return usagef("--drop is for the removal of a checkout: add --checkout")
	}
	pod := req.GetPod()
	got, err := c.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: pod})
	deleted := got.GetPod()
	if (req.GetNow() || req.GetCheckout()) && item.KindOf(err) == item.KindNotFound {
		deleted, err = &poddv1.Pod{Id: pod, Name: pod}, nil
	}
	if err != nil {
		return err
	}
	// By its id: another pod may have the name by now.
	req.Pod = deleted.GetId()
	resp, err := c.Pods().DeletePod(ctx, req)
	if err != nil {
		return err
	}
	name := sanitize.Line(deleted.GetName())
	what, it := "pod "+name, "it"
	if req.GetCheckout() {
		what, it = what+" and its checkout", "both"
	}
	says := "deleted " + what + " for good"
	if resp.GetPurgeAt() != nil {
		says = fmt.Sprintf("deleted %s; until %s, podctl restore %s brings %s back", what, stamp(resp.GetPurgeAt().AsTime()), name, it)
	}
	if resp.GetCheckout() != "" {
		says += fmt.Sprintf("\nits checkout stays in %s; podctl delete %s --checkout removes it", sanitize.Line(resp.GetCheckout()), name)
	}
	return p.print(deleted, line("%s", says))
}

func newRestoreCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "restore POD [NEW]",
		Short: "Bring a deleted pod back",
		Long: "Brings a deleted pod back, with the sub-pods that were deleted with it. POD is its old name or its id: of " +
			"several with the name, the last deleted. NEW is its name from now on. podctl list --trash shows the deleted " +
			"pods.",
		Example:           "  podctl list --trash\n  podctl restore api\n  podctl restore api api-2",
		ValidArgsFunction: p.completeTrash,
		RunE: p.onPodd(func(ctx context.Context, c *client.Client, args []string) error {
			req := &poddv1.RestorePodRequest{Pod: valid(args[0])}
			if len(args) == 2 {
				req.Name = valid(args[1])
			}
			resp, err := c.Pods().RestorePod(ctx, req)
			return p.answer(resp.GetPod(), err, line("restored pod %s", sanitize.Line(resp.GetPod().GetName())))
		}),
	}
}

// completeTrash offers the names of the deleted pods for the first argument.
func (p *program) completeTrash(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.completeFrom(cmd.Context(), args, start, func(ctx context.Context, c *client.Client, offer func(value, about string)) error {
		resp, err := c.Pods().ListTrash(ctx, &poddv1.ListTrashRequest{})
		for _, pod := range resp.GetPods() {
			offer(pod.GetPod().GetName(), pod.GetPod().GetSpec().GetDir())
		}
		return err
	})
}

// listTrash lists the deleted pods.
func (p *program) listTrash(ctx context.Context, c *client.Client) error {
	resp, err := c.Pods().ListTrash(ctx, &poddv1.ListTrashRequest{})
	if err != nil {
		return err
	}
	return printEach(p, resp.GetPods(), func() error { return p.trashTable(p.stdout, resp.GetPods()) })
}

func (p *program) trashTable(w io.Writer, pods []*poddv1.TrashedPod) error {
	if len(pods) == 0 {
		_, err := fmt.Fprintln(p.stderr, "the trash is empty")
		return err
	}
	t := newTable(w)
	fmt.Fprintln(t, "NAME\tID\tTURN\tDELETED\tKEPT UNTIL\tDIR")
	for _, pod := range pods {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s ago\t%s\t%s\n", sanitize.Line(pod.GetPod().GetName()), sanitize.Line(pod.GetPod().GetId()), pod.GetPod().GetTurn(),
			view.Duration(p.now().Sub(pod.GetDeletedAt().AsTime())), stamp(pod.GetPurgeAt().AsTime()), sanitize.Line(pod.GetPod().GetSpec().GetDir()))
	}
	return t.Flush()
}
