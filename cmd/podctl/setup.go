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

// becomeSetup replaces podctl by podd. It returns only if it fails.
func becomeSetup() error {
	podd, err := findPodd("run podd setup")
	if err != nil {
		return err
	}
	return syscall.Exec(podd, []string{"podd", "setup"}, os.Environ())
}

// findPodd is the podd beside podctl, or the one in PATH. then is what to do after podd is installed.
func findPodd(then string) (string, error) {
	if self, err := os.Executable(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(self), "podd")); err == nil {
			return beside, nil
		}
	}
	podd, err := exec.LookPath("podd")
	if err != nil {
		return "", item.Errorf(item.KindPrecondition, "NO_PODD", "podd is not beside podctl and not in PATH: install it, then %s", then)
	}
	return podd, nil
}
