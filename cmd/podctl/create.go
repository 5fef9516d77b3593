package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func newCreateCommand(p *program) *cobra.Command {
	var flags specFlags
	var yes, worktree bool
	tree := &poddv1.Worktree{}
	cmd := &cobra.Command{
		Use:        "create NAME",
		SuggestFor: []string{"new", "add"},
		Short:      "Create a pod",
		Long: "Creates a pod whose workspace is the current directory, or DIR with --dir. Its file tools are limited to the " +
			"workspace and the directories given with --read and --write. podctl update changes any of this later.\n" +
			"With --worktree the pod works in a checkout of its own of the git repository, on branch podd/NAME. Your files " +
			"and branches stay as they are. podctl delete --checkout removes it.",
		Example: "  podctl create api --dir ~/src/api --budget 5\n  podctl create fix-login --worktree --base main",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !worktree && (tree.GetBase() != "" || tree.GetWithChanges()) {
				return usagef("--base and --with-changes are for a checkout: add --worktree")
			}
			req := &poddv1.CreatePodRequest{Name: valid(args[0])}
			if worktree {
				req.Worktree = tree
			}
			var spec item.PodSpec
			if err := p.at.directory(flags.dir, &spec.Dir); err != nil {
				return err
			}
			if _, err := flags.apply(p, cmd, &spec); err != nil {
				return err
			}
			if err := p.allowWide(cmd.Context(), spec.Dir, yes || worktree); err != nil {
				return err
			}
			req.Spec = wire.PodSpecToProto(spec)
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().CreatePod(cmd.Context(), req)
				if err != nil {
					return err
				}
				p.warn(resp.GetWarnings())
				pod := resp.GetPod()
				return p.print(pod, line("created pod %s in %s", sanitize.Line(pod.GetName()), workplace(pod.GetSpec())))
			})
		},
	}
	flags.register(cmd, ".")
	cmd.Flags().BoolVar(&worktree, "worktree", false, "give the pod a checkout of its own of the git repository")
	cmd.Flags().StringVar(&tree.Base, "base", "", "with --worktree, the branch, tag or commit that it begins with (default: what is checked out)")
	cmd.Flags().BoolVar(&tree.WithChanges, "with-changes", false, "with --worktree, also your uncommitted changes and untracked files")
	completeWith(cmd, "base")
	yesFlag(cmd, &yes)
	p.completeModels(cmd)
	return cmd
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
