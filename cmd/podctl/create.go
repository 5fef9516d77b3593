package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// createOptions are the flags of create.
type createOptions struct {
	specOptions
	checkoutOptions
	yes, worktree bool
	// mayMessage are the names of pods that it may write to.
	mayMessage []string
}

func (o *createOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "create NAME",
		SuggestFor: []string{"new", "add"},
		Short:      "Create a pod",
		Long: "Creates a pod whose workspace is the current directory, or DIR with --dir. Its file tools are limited to the " +
			"workspace and the directories given with --read and --write. podctl update changes any of this later.\n" +
			"With --worktree the pod works in a checkout of its own of the git repository, on branch podd/NAME. Your files " +
			"and branches stay as they are. podctl delete --checkout removes it.",
		Example: "  podctl create api --dir ~/src/api --budget 5\n  podctl create fix-login --worktree --base main",
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if !o.worktree && (o.from != "" || o.withChanges) {
				return usagef("--base and --with-changes are for a checkout: add --worktree")
			}
			for _, name := range o.mayMessage {
				o.spec.Rules = append(o.spec.Rules, item.Rule{Tool: "send_message", Path: name, Decision: "allow"})
			}
			return o.take(p, cmd)
		},
		RunE: p.onPodd(o.run),
	}
	o.specOptions.register(p, cmd, ".")
	o.checkoutOptions.register(cmd, "with --worktree, the branch, tag or commit that it begins with (default: what is checked out)",
		"with --worktree, also your uncommitted changes and untracked files")
	cmd.Flags().BoolVar(&o.worktree, "worktree", false, "give the pod a checkout of its own of the git repository")
	cmd.Flags().StringArrayVar(&o.mayMessage, "may-message", nil, "a pod outside of its family that it may write to, such as 'review*'; repeatable")
	yesFlag(cmd, &o.yes)
	return cmd
}

func (o *createOptions) run(ctx context.Context, s *session, args []string) error {
	if err := s.allowWide(ctx, o.spec.Dir, o.yes || o.worktree); err != nil {
		return err
	}
	req := &poddv1.CreatePodRequest{Name: valid(args[0]), Spec: wire.PodSpecToProto(o.spec)}
	if o.worktree {
		req.Worktree = &poddv1.Worktree{Base: o.from, WithChanges: o.withChanges}
	}
	resp, err := s.Pods().CreatePod(ctx, req)
	s.warn(resp.GetWarnings())
	pod := resp.GetPod()
	return s.answer(pod, err, line("created pod %s in %s", sanitize.Line(pod.GetName()), workplace(pod.GetSpec())))
}

// workplace says where a new pod works.
func workplace(spec *poddv1.PodSpec) string {
	in := sanitize.Line(spec.GetDir())
	of := spec.GetCheckout()
	if of == nil {
		return in
	}
	return fmt.Sprintf("%s, a checkout of %s on branch %s", in, sanitize.Line(of.GetSource()), sanitize.Line(of.GetBranch()))
}
