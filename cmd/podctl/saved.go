package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newSavedCommand(of *program) *cobra.Command {
	p := fileVerbs{of}
	return &cobra.Command{
		Use:   "saved FILE...",
		Short: "Say that you saved files while a command runs",
		Long: "Says that you, not the agent, have just saved files: podctl undo leaves what you saved, or brings it back if the " +
			"command that runs overwrites it. VS Code and Neovim say so by themselves. Let other editors run this after each save.",
		Example: "  podctl saved main.go",
		Args:    operands,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.with(func(c *client.Client) error {
				for _, name := range args {
					if err := p.saved(cmd.Context(), c, name); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// saved says that one file was saved.
func (p fileVerbs) saved(ctx context.Context, c *client.Client, name string) error {
	var path string
	if err := p.at.directory(name, &path); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	resp, err := c.FileSaved(ctx, &poddv1.FileSavedRequest{Path: path, Sha256: hex.EncodeToString(sum[:])})
	if err != nil {
		return err
	}
	said := "is yours in " + plural(int(resp.GetTurns()), "running turn")
	if resp.GetTurns() == 0 {
		said = "is in the checkpoints of no turn that runs"
	}
	return p.print(resp, line("%s %s", sanitize.Line(path), said))
}
