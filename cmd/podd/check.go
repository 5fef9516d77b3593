package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/ops/keeper"
	"podd/internal/sanitize"
	"podd/internal/spec"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/store"
	poddv1 "podd/proto/podd/v1"
)

func newCheckCommand(p *program) *cobra.Command {
	var logs bool
	cmd := &cobra.Command{
		Use:   "check [--log [POD...]]",
		Short: "Check the store for damage",
		Long: "Reads the whole store and prints a line for each problem. It changes nothing. It works with a running podd\n" +
			"and without one. With --log it checks instead that the logs of pods, or of all pods, are as podd writes them:\n" +
			"each finding names an invariant of docs/spec.md, and an entry. Without a running podd it opens the store, as podd does.",
		Args: func(_ *cobra.Command, args []string) error {
			if !logs && len(args) > 0 {
				return usageError{errors.New("podd check takes pods only with --log")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if logs {
				return p.checkLogs(cmd.Context(), args)
			}
			return p.checkStore(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&logs, "log", false, "check what the logs of pods say")
	return cmd
}

func (p *program) checkStore(ctx context.Context) error {
	var harm, harmless []string
	err := p.keep(ctx, keepers{
		database: func(ctx context.Context, c keeper.DatabaseConfig) error {
			return keeper.WithDatabase(ctx, c, func(d *keeper.Database) (err error) {
				harm, harmless, err = d.Check(ctx)
				return err
			})
		},
		online: func(ctx context.Context, c *client.Client) error {
			resp, err := c.Admin().Check(ctx, &poddv1.CheckRequest{})
			harm, harmless = resp.GetFindings(), resp.GetHarmless()
			return err
		},
		offline: func(ctx context.Context, c keeper.Config) (err error) {
			if err := keeper.MustExist(c); err != nil {
				return err
			}
			harm, harmless, err = keeper.CheckFile(ctx, c)
			return err
		},
	})
	if err != nil {
		return err
	}
	return p.report(harm, harmless)
}

func (p *program) checkLogs(ctx context.Context, pods []string) error {
	var found []string
	err := p.keep(ctx, keepers{
		database: func(ctx context.Context, c keeper.DatabaseConfig) error {
			return keeper.WithDatabase(ctx, c, func(d *keeper.Database) (err error) {
				found, err = spec.Pods(ctx, d.Store(), pods...)
				return err
			})
		},
		online: func(ctx context.Context, c *client.Client) error {
			resp, err := c.Admin().Check(ctx, &poddv1.CheckRequest{Logs: true, Pods: pods})
			found = resp.GetFindings()
			return err
		},
		offline: func(ctx context.Context, c keeper.Config) error {
			return withKeeper(ctx, c, func(k *keeper.Keeper) (err error) {
				found, err = spec.Pods(ctx, k.Store(), pods...)
				return err
			})
		},
	})
	for _, text := range found {
		fmt.Fprintln(p.stdout, sanitize.Line(text))
	}
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return item.Errorf(item.KindDataLoss, "LOG_BROKEN", "logs break what podd promises (findings: %d): keep a backup, and report it", len(found))
	}
	fmt.Fprintln(p.stdout, "the logs are sound")
	return nil
}

// report prints the findings of a check. Harmless findings are not an error.
func (p *program) report(harm, harmless []string) error {
	for _, text := range slices.Concat(harm, harmless) {
		fmt.Fprintln(p.stdout, sanitize.Line(text))
	}
	if len(harm) > 0 {
		return item.Errorf(item.KindDataLoss, store.ReasonDamaged, "the store is damaged (problems found: %d): restore a backup, or delete the pods listed above", len(harm))
	}
	fmt.Fprintln(p.stdout, "the store is sound")
	return nil
}

// checkVerb is the command of the process that reads a file whose damage may crash it.
const checkVerb = "check-file"

// checker is the command that runs it.
func checker() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, checkVerb}
}

// checkMemory bounds the memory of a check, in bytes: pages that form a cycle would use all of it. A check keeps
// some bytes for each page.
func checkMemory(path string) uint64 {
	const least = 1 << 30
	info, err := os.Stat(path)
	if err != nil {
		return least
	}
	return least + uint64(info.Size())/4
}

func newCheckFileCommand(p *program) *cobra.Command {
	var quick bool
	cmd := &cobra.Command{
		Use:    checkVerb + " FILE",
		Short:  "Check a database in this process and print the findings as JSON",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			defer boundMemory(checkMemory(args[0]), func() {
				_ = keeper.PrintTooLarge(p.stdout, args[0])
				os.Exit(exitDone)
			})()
			return keeper.PrintCheck(cmd.Context(), p.stdout, args[0], quick)
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "open the file and read the last entry of each log")
	return cmd
}

// boundMemory calls over when the process uses more memory than most, until stop is called.
func boundMemory(most uint64, over func()) (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				var m runtime.MemStats
				if runtime.ReadMemStats(&m); m.HeapAlloc > most {
					over()
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-stopped
	}
}
