package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
)

// installShells are the shells that find a completion script in a directory of their user.
var installShells = []string{"bash", "zsh", "fish"}

func newCompletionInstallCommand(p *program) *cobra.Command {
	var shell string
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the completion script for your shell",
		Long: "Writes the completion script where your shell finds it, and says what is left to do. The shell is that of " +
			"$SHELL or --shell. Running it again brings the script up to date.",
		Args:              operands,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if shell == "" && p.env("SHELL") == "" {
				return usagef("$SHELL is not set: name your shell with --shell bash, zsh or fish")
			}
			return p.installCompletion(cmd.Root(), cmp.Or(shell, filepath.Base(p.env("SHELL"))))
		},
	}
	cmd.Flags().StringVar(&shell, "shell", "", "bash, zsh or fish (default: that of $SHELL)")
	completeWith(cmd, "shell", installShells...)
	return cmd
}

func (p *program) installCompletion(root *cobra.Command, shell string) error {
	file, next, err := completionFile(p.env, shell)
	if err != nil {
		return err
	}
	var script bytes.Buffer
	if err := writeCompletion(&script, root, shell); err != nil {
		return err
	}
	done := "is up to date"
	if old, err := os.ReadFile(file); err != nil || !bytes.Equal(old, script.Bytes()) {
		done = "is installed"
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // It is as public as the shell's own.
			return fmt.Errorf("cannot install the completion script: %w", err)
		}
		if err := os.WriteFile(file, script.Bytes(), 0o644); err != nil { //nolint:gosec // The same.
			return fmt.Errorf("cannot install the completion script: %w", err)
		}
	}
	_, err = fmt.Fprintf(p.stdout, "%s %s\n%s\n", sanitize.Line(file), done, sanitize.Line(next))
	return err
}

// completionFile is where a shell finds the script, and what the user does next.
func completionFile(env func(string) string, shell string) (file, next string, err error) {
	home := env("HOME")
	if !filepath.IsAbs(home) {
		return "", "", usagef("HOME is not set, so podctl cannot find your shell's directory: set it, or use podctl completion %s", shell)
	}
	data := cmp.Or(env("XDG_DATA_HOME"), filepath.Join(home, ".local/share"))
	switch shell {
	case "bash":
		return filepath.Join(data, "bash-completion/completions/podctl"),
			"Open a new shell. If podctl does not complete there, install the package bash-completion.", nil
	case "zsh":
		dir := filepath.Join(data, "zsh/site-functions")
		return filepath.Join(dir, "_podctl"), "Add this line to ~/.zshrc above compinit, then open a new shell: fpath+=(" + dir + ")", nil
	case "fish":
		return filepath.Join(cmp.Or(env("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "fish/completions/podctl.fish"),
			"It works in each new shell.", nil
	}
	return "", "", usagef("no completion for the shell %q: name yours with --shell bash, zsh or fish", shell)
}
