package shim_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/commands/shim"
	"podd/pkg/tool/spool"
)

// scriptVariable makes the test binary a podd that starts one script in the spool at
// spoolVariable and then waits to be killed.
const (
	scriptVariable = "PODD_TEST_SCRIPT"
	spoolVariable  = "PODD_TEST_SPOOL"
)

func TestMain(m *testing.M) {
	shim.Main()
	if script := os.Getenv(scriptVariable); script != "" {
		if err := startAndWait(script); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

func startAndWait(script string) error {
	all, err := spool.Open(spool.Config{Dir: os.Getenv(spoolVariable)})
	if err != nil {
		return err
	}
	folder, err := all.Folder("p")
	if err != nil {
		return err
	}
	job, err := folder.CreateJob("shell", "c", nil)
	if err != nil {
		return err
	}
	client, err := shim.Open(slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if _, err := client.Start(context.Background(), command(job, dir, script)); err != nil {
		return err
	}
	select {}
}
