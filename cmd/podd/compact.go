package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/ops/keeper"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newCompactStoreCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "compact-store",
		Short: "give the space that the store does not use back to the disk",
		Long: "Makes a compact copy of the store, compares it with the original and puts it in its place. It needs\n" +
			"space for the copy. When a podd runs it goes on; what it has to write waits until the copy is made.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var before, after int64
			err := p.keep(cmd.Context(), keepers{
				online: func(ctx context.Context, c *client.Client) error {
					resp, err := c.Admin().CompactStore(ctx, &poddv1.CompactStoreRequest{})
					before, after = resp.GetBytesBefore(), resp.GetBytesAfter()
					return err
				},
				offline: func(ctx context.Context, c keeper.Config) error {
					return withKeeper(ctx, c, func(k *keeper.Keeper) (err error) {
						before, after, err = k.Compact(ctx)
						return err
					})
				},
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.stdout, "the store had %d bytes and has %d\n", before, after)
			return err
		},
	}
}
