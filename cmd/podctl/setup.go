package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"podd/pkg/item"
)

func newSetupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "setup",
		Short: "Find a model endpoint, write config.toml and start podd",
		Long:  "Becomes podd setup, which finds a model endpoint, tries it, writes config.toml and offers to run podd as a service.",
		RunE:  func(*cobra.Command, []string) error { return becomeSetup() },
	}
}

// becomeSetup replaces podctl by the podd beside it, or by the one in PATH. It returns only if it fails.
func becomeSetup() error {
	podd, err := exec.LookPath("podd")
	if self, serr := os.Executable(); serr == nil {
		if beside, berr := exec.LookPath(filepath.Join(filepath.Dir(self), "podd")); berr == nil {
			podd, err = beside, nil
		}
	}
	if err != nil {
		return item.Errorf(item.KindPrecondition, "NO_PODD", "podd is not beside podctl and not in PATH: install it, then run podd setup")
	}
	return syscall.Exec(podd, []string{"podd", "setup"}, os.Environ())
}
