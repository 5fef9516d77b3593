package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// sendOptions are the flags of send, and the letter.
type sendOptions struct {
	noWake, noStdin bool
	segments        []item.Segment
	// named says that the pod was named with -p, and not by the first operand.
	named bool
}

func (o *sendOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "send [POD] [TEXT...]",
		SuggestFor: []string{"notify"},
		Short:      "Write a letter that the model reads at its next step",
		Long: "Writes a letter that the model reads at its next step, or in a new turn if the pod is idle. The letter is TEXT followed by " +
			"standard input, as with submit. If you pipe the letter, a single argument names the pod. podctl letters shows what became of it.",
		Example: "  podctl send api \"the tests are flaky today\"",
		PreRunE: func(cmd *cobra.Command, args []string) (err error) {
			o.named = cmd.Flags().Changed("pod")
			o.segments, err = p.input(cmd, args[1:], "letter", o.noStdin)
			return err
		},
		RunE: p.onPod(o.run),
	}
	inputFlag(cmd, &o.noStdin)
	cmd.Flags().BoolVar(&o.noWake, "no-wake", false, "let an idle pod read it in its next turn, without starting one")
	return cmd
}

func (o *sendOptions) run(ctx context.Context, s *session, args []string) error {
	resp, err := s.Notify(ctx, &poddv1.NotifyRequest{Pod: s.pod, Text: valid(noteText(o.segments)), Wake: !o.noWake})
	if item.ReasonOf(err) == "POD_NOT_FOUND" && args[0] != "" && !o.named {
		return item.Errorf(item.KindNotFound, "POD_NOT_FOUND", "no pod named %q: if that is text, name the pod with -p POD", args[0])
	}
	return s.answer(resp, err, line("letter %d to %s: stored", resp.GetSeq(), sanitize.Line(s.pod)))
}

// noteText is input as one text, with standard input framed as in a prompt: a letter has no
// pieces.
func noteText(segments []item.Segment) string {
	var parts []string
	for _, s := range segments {
		switch s := s.(type) {
		case item.TextSegment:
			parts = append(parts, s.Text)
		case item.PasteSegment:
			if s.Name == "" {
				parts = append(parts, s.Text)
				continue
			}
			parts = append(parts, strings.TrimSuffix(s.Framed(), "\n"))
		}
	}
	return strings.Join(parts, "\n\n")
}
