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
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// trustOptions are the flags of trust, and its operand.
type trustOptions struct {
	dir         string
	yes, remove bool
}

func (o *trustOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trust DIR",
		Short: "Trust a workspace's own configuration",
		Long: "Prints .podd/config.toml, .mcp.json and hooks of a workspace and asks whether podd may use them. You trust exactly " +
			"what is printed: when a file changes, podd ignores it until you trust it again; rules that you trusted stay in " +
			"force.",
		Example:           "  podctl trust .",
		ValidArgsFunction: completeFiles,
		PreRunE:           func(_ *cobra.Command, args []string) error { return p.at.directory(args[0], &o.dir) },
		RunE:              p.onPodd(o.run),
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "trust the files without asking")
	cmd.Flags().BoolVar(&o.remove, "remove", false, "stop trusting the workspace")
	cmd.MarkFlagsMutuallyExclusive("yes", "remove")
	return cmd
}

func (o *trustOptions) run(ctx context.Context, s *session, _ []string) error {
	look, err := s.Admin().TrustDir(ctx, &poddv1.TrustDirRequest{Dir: o.dir, Remove: o.remove})
	if err != nil {
		return err
	}
	if o.remove {
		return s.print(look, line("%s is no longer trusted", sanitize.Line(look.GetDir())))
	}
	shown := s.stdout
	if s.output == outputJSON {
		shown = s.stderr
	}
	if err := showFiles(shown, look); err != nil {
		return err
	}
	for _, why := range look.GetRefused() {
		fmt.Fprintf(s.stderr, "! podd ignores this setting: %s\n", sanitize.Line(why))
	}
	switch {
	case len(look.GetFiles()) == 0:
		return item.Errorf(item.KindPrecondition, "NOTHING_TO_TRUST", "%s has no .podd/config.toml, .mcp.json or hooks, so there is nothing to trust", look.GetDir())
	case look.GetState() == "trusted":
		return s.print(look, line("%s is already trusted", sanitize.Line(look.GetDir())))
	case !o.yes:
		if err := s.asked(ctx, "Trust these files?",
			usageError{item.Errorf(item.KindInvalid, "NOBODY_TO_ASK", "trust needs a terminal to ask: run it at one, or add --yes once you have read the files")},
			item.Errorf(item.KindPrecondition, "NOT_TRUSTED", "you did not trust the files, so podd ignores them")); err != nil {
			return err
		}
	}
	look, err = s.Admin().TrustDir(ctx, &poddv1.TrustDirRequest{Dir: look.GetDir(), Digest: look.GetDigest()})
	return s.answer(look, err, line("%s is now trusted; this takes effect at the next turn", sanitize.Line(look.GetDir())))
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
