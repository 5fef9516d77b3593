package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/internal/wire"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newCreateCommand(p *program) *cobra.Command {
	var flags specFlags
	var yes, worktree bool
	var ref string
	tree := &poddv1.Worktree{}
	cmd := &cobra.Command{
		Use:        "create NAME",
		SuggestFor: []string{"new", "add"},
		Short:      "Create a pod",
		Long: "Creates a pod whose workspace is the current directory, or DIR with --dir. Its file tools are limited to the " +
			"workspace and the directories given with --read and --write. podctl update changes any of this later.\n" +
			"With --worktree the pod works in a checkout of its own of the git repository, on branch podd/NAME. Your files " +
			"and branches stay as they are. podctl delete --checkout removes it.\n" +
			"With --git podd clones a repository for it, and pushes what the pod does there as refs/podd/NAME after each turn.",
		Example: "  podctl create api --dir ~/src/api --budget 5\n  podctl create fix-login --worktree --base main\n" +
			"  podctl create fix-login --git git@example.com:team/app.git --ref main",
		Args:              operands,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := &poddv1.CreatePodRequest{Name: valid(args[0])}
			if err := checkTree(tree, ref, worktree, cmd.Flags().Changed("dir")); err != nil {
				return err
			}
			cloned := tree.GetUrl() != ""
			if worktree || cloned {
				req.Worktree = tree
			}
			spec, err := specIn(p, flags.dir, cloned)
			if err != nil {
				return err
			}
			if _, err := flags.apply(p, cmd, &spec); err != nil {
				return err
			}
			if err := p.allowWide(cmd.Context(), spec.Dir, yes || req.Worktree != nil); err != nil {
				return err
			}
			req.Spec = wire.PodSpecToProto(spec)
			return p.with(func(c *client.Client) error {
				if cloned {
					fmt.Fprintln(p.stderr, "podd clones the repository; Ctrl-C stops it")
				}
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
	cloneFlags(cmd, tree, &ref)
	yesFlag(cmd, &yes)
	p.completeModels(cmd)
	return cmd
}

// checkTree checks the flags of a checkout or a clone.
func checkTree(tree *poddv1.Worktree, ref string, worktree, dir bool) error {
	switch cloned := tree.GetUrl() != ""; {
	case !worktree && (tree.GetBase() != "" || tree.GetWithChanges()):
		return usagef("--base and --with-changes are for a checkout: add --worktree")
	case cloned && (worktree || dir):
		return usagef("--git gives the pod a directory of its own: leave --worktree and --dir out")
	case cloned:
		tree.Base = ref
	case ref != "":
		return usagef("--ref is for a clone: add --git URL")
	}
	return nil
}

// specIn is the spec of a pod in a directory, which podd makes for a clone.
func specIn(p *program, dir string, cloned bool) (spec item.PodSpec, err error) {
	if !cloned {
		err = p.at.directory(dir, &spec.Dir)
	}
	return spec, err
}

// workplace says where a new pod works.
func workplace(spec *poddv1.PodSpec) string {
	in := sanitize.Line(spec.GetDir())
	of := spec.GetCheckout()
	if of == nil {
		return in
	}
	kind := "checkout"
	if of.GetClone() != "" {
		kind = "clone"
	}
	return fmt.Sprintf("%s, a %s of %s on branch %s", in, kind, sanitize.Line(of.GetSource()), sanitize.Line(of.GetBranch()))
}

// cloneFlags adds the flags of a clone.
func cloneFlags(cmd *cobra.Command, tree *poddv1.Worktree, ref *string) {
	cmd.Flags().StringVar(&tree.Url, "git", "", "give the pod a clone of the repository `URL`")
	cmd.Flags().StringVar(ref, "ref", "", "with --git, the branch, tag, commit or reference that it begins with (default: the repository's own branch)")
	for _, flag := range []string{"base", "git", "ref"} {
		completeWith(cmd, flag)
	}
}
