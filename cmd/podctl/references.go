package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	poddv1 "podd/proto/podd/v1"
)

// completeReference completes an argument of submit that is an @path, with the files
// of the pod that the submit would go to. It is silent when podd does not answer.
func (p *program) completeReference(ctx context.Context, flags submitFlags, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	prefix, ok := strings.CutPrefix(typed, "@")
	if !ok || flags.literal {
		return nil, directive
	}
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	var refs []cobra.Completion
	_ = p.with(func(c *client.Client) error {
		paths, err := p.completePath(ctx, c, flags.pod, valid(prefix))
		for _, path := range paths {
			refs = append(refs, "@"+path)
			// After a directory the path continues.
			if strings.HasSuffix(strings.TrimSuffix(path, `"`), "/") {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
		}
		return err
	})
	return refs, directive
}

// completePath completes a path in the scope of the pod that a submit would go to. If the submit
// would create that pod, its scope is the current directory.
func (p *program) completePath(ctx context.Context, c *client.Client, named, prefix string) ([]string, error) {
	pod, _, err := p.choosePod(ctx, c, named, nil)
	if item.ReasonOf(err) == "NO_POD" {
		return pathsHere(ctx, prefix)
	}
	if err != nil {
		return nil, err
	}
	resp, err := c.Pods().CompletePath(ctx, &poddv1.CompletePathRequest{Pod: pod, Prefix: prefix})
	return resp.GetPaths(), err
}

// pathsHere completes a path in the current directory.
func pathsHere(ctx context.Context, prefix string) ([]string, error) {
	dir, err := currentDir()
	if err != nil {
		return nil, err
	}
	files, err := scopefs.Open(scopefs.Config{Dir: dir})
	if err != nil {
		return nil, err
	}
	defer files.Close()
	return files.Complete(ctx, prefix, 0)
}
