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
		Short: "Return the store's unused space to the disk",
		Long: "Makes a compact copy of the store, compares it with the original and replaces the original. It needs disk\n" +
			"space for the copy. A running podd keeps working; its writes wait until the copy is finished.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var before, after int64
			err := p.keep(cmd.Context(), keepers{
				database: func(context.Context, keeper.DatabaseConfig) error { return keeper.ErrCompact },
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
			_, err = fmt.Fprintf(p.stdout, "compacted the store from %d to %d bytes\n", before, after)
			return err
		},
	}
}
