package shim_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"podd/internal/commands/confine"
	"podd/internal/commands/lease"
	"podd/internal/commands/shim"
	"podd/pkg/tool/spool"
)

// scriptVariable makes the test binary a podd that starts one script in the spool at
// spoolVariable and then waits to be killed. With leaseVariable, the path of a lease that it renews,
// it starts the script twice: job l ends with the lease, job c does not.
const (
	scriptVariable = "PODD_TEST_SCRIPT"
	spoolVariable  = "PODD_TEST_SPOOL"
	leaseVariable  = "PODD_TEST_LEASE"
)

func TestMain(m *testing.M) {
	confine.Main()
	shim.Main()
	if script := os.Getenv(scriptVariable); script != "" {
		if err := startAndWait(script); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if signal.Ignored(syscall.SIGINT) {
		// A shell ignores it for what it starts in the background, and commands would inherit that. podd handles it.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGINT)
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
	client, err := shim.Open(slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	start := func(id string, l *lease.Lease) error {
		job, err := folder.CreateJob("shell", id, nil)
		if err != nil {
			return err
		}
		c := command(job, dir, script)
		c.Env = append(c.Env, "JOB="+id)
		c.Lease = l
		_, err = client.Start(context.Background(), c)
		return err
	}
	if err := start("c", nil); err != nil {
		return err
	}
	path := os.Getenv(leaseVariable)
	if path == "" {
		time.Sleep(time.Hour) // A select without cases is a deadlock to the runtime.
	}
	l, err := lease.Open(path)
	if err == nil {
		err = l.Renewing()()
	}
	if err == nil {
		err = start("l", l)
	}
	for ; err == nil; time.Sleep(renewEvery) {
		err = l.Renewing()()
	}
	return err
}

// renewEvery is how often the podd of a test renews its lease.
const renewEvery = 100 * time.Millisecond
