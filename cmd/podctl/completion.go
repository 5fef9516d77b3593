package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// completionPatience bounds how long a person waits after pressing the tab key.
const completionPatience = 500 * time.Millisecond

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletionCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script for a shell: " + strings.Join(shells, ", "),
		Long: "Prints the completion script for a shell: " + strings.Join(shells, ", ") + ".\n" +
			"podctl completion install writes it where your shell finds it.",
		Args:      operands,
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeCompletion(p.stdout, cmd.Root(), args[0])
		},
	}
	cmd.AddCommand(newCompletionInstallCommand(p))
	return cmd
}

func writeCompletion(w io.Writer, root *cobra.Command, shell string) error {
	switch shell {
	case "bash":
		return bashCompletion(w, root)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return usagef("unknown shell %q: use %s", shell, strings.Join(shells, ", "))
}

// completePods offers the names of the pods for the first argument. It is silent
// when podd does not answer.
func (p *program) completePods(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.podNames(cmd.Context(), start), cobra.ShellCompDirectiveNoFileComp
}

func (p *program) podNames(ctx context.Context, start string) []cobra.Completion {
	names, _ := p.completeFrom(ctx, nil, start, func(ctx context.Context, c *client.Client, offer func(value, about string)) error {
		resp, err := c.Pods().ListPods(ctx, &poddv1.ListPodsRequest{})
		for _, pod := range resp.GetPods() {
			offer(pod.GetName(), pod.GetSpec().GetDir())
		}
		return err
	})
	return names
}

// completeOfPod offers the pods, and then what list finds of the one that was named.
func (p *program) completeOfPod(cmd *cobra.Command, args []string, start string, list func(ctx context.Context, c *client.Client, pod string, offer func(value, about string)) error) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return p.completePods(cmd, args, start)
	}
	return p.completeFrom(cmd.Context(), args[1:], start, func(ctx context.Context, c *client.Client, offer func(value, about string)) error {
		return list(ctx, c, valid(args[0]), offer)
	})
}

// completeFrom offers what list finds, each with a description, once. It is silent when
// podd does not answer.
func (p *program) completeFrom(ctx context.Context, args []string, start string, list func(ctx context.Context, c *client.Client, offer func(value, about string)) error) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	_ = p.with(func(c *client.Client) error {
		return list(ctx, c, func(value, about string) {
			if strings.HasPrefix(value, start) && !slices.Contains(args, value) {
				found = append(found, cobra.CompletionWithDesc(sanitize.Line(value), sanitize.Line(about)))
			}
		})
	})
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completePodFlag offers the names of the pods for a flag.
func (p *program) completePodFlag(cmd *cobra.Command) {
	mustRegister(cmd.RegisterFlagCompletionFunc("pod", func(cmd *cobra.Command, _ []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return p.podNames(cmd.Context(), start), cobra.ShellCompDirectiveNoFileComp
	}))
}

// completeWith offers fixed values for a flag.
func completeWith(cmd *cobra.Command, flag string, values ...string) {
	mustRegister(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// completeAliases offers the other names of verbs; cobra offers the first ones.
func completeAliases(cmd *cobra.Command, args []string, start string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, sub := range cmd.Commands() {
		for _, alias := range sub.Aliases {
			if len(args) == 0 && strings.HasPrefix(alias, start) {
				found = append(found, cobra.CompletionWithDesc(alias, sub.Short))
			}
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// mustRegister panics on err, which can only mean that a flag's name is misspelt here.
func mustRegister(err error) {
	if err != nil {
		panic(err)
	}
}
