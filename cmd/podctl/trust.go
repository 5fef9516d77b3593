package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// trustFlags are the flags of trust.
type trustFlags struct{ yes, remove bool }

func newTrustCommand(p *program) *cobra.Command {
	var flags trustFlags
	cmd := &cobra.Command{
		Use:   "trust DIR",
		Short: "Trust a workspace's own configuration",
		Long: "Prints .podd/config.toml and .mcp.json of a workspace and asks whether podd may use them. You trust exactly " +
			"what is printed: when a file changes, podd ignores it until you trust it again; rules that you trusted stay in " +
			"force.",
		Example:           "  podctl trust .",
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			var dir string
			if err := p.at.directory(args[0], &dir); err != nil {
				return err
			}
			return p.with(func(c *client.Client) error { return p.trust(cmd.Context(), c, dir, flags) })
		},
	}
	cmd.Flags().BoolVarP(&flags.yes, "yes", "y", false, "trust the files without asking")
	cmd.Flags().BoolVar(&flags.remove, "remove", false, "stop trusting the workspace")
	cmd.MarkFlagsMutuallyExclusive("yes", "remove")
	return cmd
}

func (p *program) trust(ctx context.Context, c *client.Client, dir string, flags trustFlags) error {
	look, err := c.Admin().TrustDir(ctx, &poddv1.TrustDirRequest{Dir: dir, Remove: flags.remove})
	if err != nil {
		return err
	}
	if flags.remove {
		return p.print(look, line("%s is no longer trusted", sanitize.Line(look.GetDir())))
	}
	shown := p.stdout
	if p.output == outputJSON {
		shown = p.stderr
	}
	if err := showFiles(shown, look); err != nil {
		return err
	}
	for _, why := range look.GetRefused() {
		fmt.Fprintf(p.stderr, "! podd ignores this setting: %s\n", sanitize.Line(why))
	}
	switch {
	case len(look.GetFiles()) == 0:
		return item.Errorf(item.KindPrecondition, "NOTHING_TO_TRUST", "%s has no .podd/config.toml or .mcp.json, so there is nothing to trust", look.GetDir())
	case look.GetState() == "trusted":
		return p.print(look, line("%s is already trusted", sanitize.Line(look.GetDir())))
	case !flags.yes:
		if err := p.asked(ctx, "Trust these files?",
			usageError{item.Errorf(item.KindInvalid, "NOBODY_TO_ASK", "trust needs a terminal to ask: run it at one, or add --yes once you have read the files")},
			item.Errorf(item.KindPrecondition, "NOT_TRUSTED", "you did not trust the files, so podd ignores them")); err != nil {
			return err
		}
	}
	look, err = c.Admin().TrustDir(ctx, &poddv1.TrustDirRequest{Dir: look.GetDir(), Digest: look.GetDigest()})
	return p.answer(look, err, line("%s is now trusted; this takes effect at the next turn", sanitize.Line(look.GetDir())))
}

// showFiles prints files completely, with invisible characters as escapes, and counts
// those.
func showFiles(w io.Writer, look *poddv1.TrustDirResponse) error {
	for _, f := range look.GetFiles() {
		text := string(bytes.TrimSuffix(f.GetContent(), []byte("\n")))
		if _, err := fmt.Fprintf(w, "%s, %s bytes:\n", sanitize.Line(f.GetPath()), view.Count(int64(len(f.GetContent())))); err != nil {
			return err
		}
		shown, hidden := sanitize.Exact(text)
		for l := range strings.SplitSeq(shown, "\n") {
			fmt.Fprintf(w, "  | %s\n", l)
		}
		if hidden > 0 {
			fmt.Fprintf(w, "%s, shown as escapes\n", plural(hidden, "invisible or invalid character"))
		}
	}
	return nil
}
