package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/internal/wire"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newCreateCommand(p *program) *cobra.Command {
	var spec item.PodSpec
	var instructions string
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "make a pod",
		Long: "Makes a pod whose workspace is DIR, by default the current directory. Its file tools stay in the\n" +
			"workspace and in the directories of --read and --write.",
		Args:              argCount(1, 1, "a NAME"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := completeSpec(&spec, instructions); err != nil {
				return err
			}
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().CreatePod(cmd.Context(), &poddv1.CreatePodRequest{Name: valid(args[0]), Spec: wire.PodSpecToProto(spec)})
				if err != nil {
					return err
				}
				pod := resp.GetPod()
				return p.print(pod, line("created pod %s in %s", sanitize.Line(pod.GetName()), sanitize.Line(pod.GetSpec().GetDir())))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&spec.Dir, "dir", ".", "the workspace")
	flags.StringVar(&spec.Model, "model", "", "the model (default podd's)")
	flags.StringVar(&instructions, "instructions", "", "a file with instructions for the pod (default podd's)")
	flags.StringArrayVar(&spec.Read, "read", nil, "a further directory that file tools may read; may be repeated")
	flags.StringArrayVar(&spec.Write, "write", nil, "a further directory that file tools may read and write; may be repeated")
	flags.StringVar(&spec.Ask, "ask", "", "when calls ask a person: never, risky or always (default podd's)")
	completeWith(cmd, "ask", "never", "risky", "always")
	completeWith(cmd, "model")
	for _, name := range []string{"dir", "read", "write"} {
		mustRegister(cmd.MarkFlagDirname(name))
	}
	return cmd
}

// completeSpec makes the paths of a spec absolute and reads the instructions.
func completeSpec(spec *item.PodSpec, instructions string) error {
	if err := absolute(&spec.Dir); err != nil {
		return err
	}
	for _, dirs := range [][]string{spec.Read, spec.Write} {
		for i := range dirs {
			if err := absolute(&dirs[i]); err != nil {
				return err
			}
		}
	}
	if instructions == "" {
		return nil
	}
	text, err := os.ReadFile(instructions)
	if err != nil {
		return usagef("the instructions cannot be read: %w", err)
	}
	spec.Instructions = string(text)
	return nil
}

// absolute makes a path absolute. podd checks what is there.
func absolute(path *string) error {
	if *path == "" {
		return usagef("an empty path names no directory")
	}
	whole, err := filepath.Abs(*path)
	if err != nil {
		return fmt.Errorf("the current directory cannot be read: %w", err)
	}
	*path = whole
	return nil
}
