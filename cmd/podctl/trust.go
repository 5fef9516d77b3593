package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
		Short: "let podd follow a workspace's own configuration",
		Long: "Shows .podd/config.toml and .mcp.json of a workspace, whole, and asks whether podd may follow them. What is\n" +
			"trusted is what is shown: when a file changes, it is ignored until you trust it again, and the rules that you trusted hold on.",
		Args: operands,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(valid(args[0]))
			if err != nil {
				return err
			}
			return p.with(func(c *client.Client) error { return p.trust(cmd.Context(), c, dir, flags) })
		},
	}
	cmd.Flags().BoolVarP(&flags.yes, "yes", "y", false, "trust what there is without asking")
	cmd.Flags().BoolVar(&flags.remove, "remove", false, "take the trust back")
	cmd.MarkFlagsMutuallyExclusive("yes", "remove")
	return cmd
}

func (p *program) trust(ctx context.Context, c *client.Client, dir string, flags trustFlags) error {
	look, err := c.Admin().TrustDir(ctx, &poddv1.TrustDirRequest{Dir: dir, Remove: flags.remove})
	if err != nil {
		return err
	}
	if flags.remove {
		return p.print(look, line("%s is not trusted any more", sanitize.Line(look.GetDir())))
	}
	shown := p.stdout
	if p.output == outputJSON {
		shown = p.stderr
	}
	if err := showFiles(shown, look); err != nil {
		return err
	}
	for _, why := range look.GetRefused() {
		fmt.Fprintf(p.stderr, "! podd will not follow this: %s\n", sanitize.Line(why))
	}
	switch {
	case len(look.GetFiles()) == 0:
		return item.Errorf(item.KindPrecondition, "NOTHING_TO_TRUST", "%s has no file that podd would follow: nothing needs to be trusted", look.GetDir())
	case look.GetState() == "trusted":
		return p.print(look, line("%s is trusted already", sanitize.Line(look.GetDir())))
	case !flags.yes:
		if err := p.asked(ctx); err != nil {
			return err
		}
	}
	look, err = c.Admin().TrustDir(ctx, &poddv1.TrustDirRequest{Dir: look.GetDir(), Digest: look.GetDigest()})
	if err != nil {
		return err
	}
	return p.print(look, line("%s is trusted; this takes effect at the next turn", sanitize.Line(look.GetDir())))
}

// showFiles shows files whole, with what would not be seen made visible and counted.
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
			fmt.Fprintf(w, "%d characters of it are invisible or invalid, and shown as escapes\n", hidden)
		}
	}
	return nil
}

// asked is nil when the person at the terminal says yes.
func (p *program) asked(ctx context.Context) error {
	tty, _ := p.stdin.(*os.File)
	if _, ok := terminal(p.stdin); !ok || clearTyped(tty) != nil {
		return usageError{item.Errorf(item.KindInvalid, "NOBODY_TO_ASK", "nobody is there to ask: run podctl trust at a terminal, or with --yes once you have read the files")}
	}
	fmt.Fprint(p.stderr, "trust this? y, else no: ")
	typed, err := readTyped(ctx, tty)
	if err != nil {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(typed)) {
	case "y", "yes":
		return nil
	}
	return item.Errorf(item.KindPrecondition, "NOT_TRUSTED", "nothing was trusted")
}
