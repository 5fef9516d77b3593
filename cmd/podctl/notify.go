package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// notifyOptions are the flags of notify, and the note.
type notifyOptions struct {
	wake, noStdin bool
	segments      []item.Segment
	// named says that the pod was named with -p, and not by the first operand.
	named bool
}

func (o *notifyOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "notify [POD] [TEXT...]",
		Short: "Leave a note for the model's next step",
		Long: "Leaves a note that the model reads at its next step. The note is TEXT followed by standard input, as with " +
			"submit. If you pipe the note, a single argument names the pod. An idle pod reads the note in its next turn; --wake starts one.",
		Example: "  podctl notify api \"the tests are flaky today\"",
		PreRunE: func(cmd *cobra.Command, args []string) (err error) {
			o.named = cmd.Flags().Changed("pod")
			o.segments, err = p.input(cmd, args[1:], "note", o.noStdin)
			return err
		},
		RunE: p.onPod(o.run),
	}
	inputFlag(cmd, &o.noStdin)
	cmd.Flags().BoolVar(&o.wake, "wake", false, "start a turn if the pod is idle")
	return cmd
}

func (o *notifyOptions) run(ctx context.Context, s *session, args []string) error {
	resp, err := s.Pods().Notify(ctx, &poddv1.NotifyRequest{Pod: s.pod, Text: valid(noteText(o.segments)), Wake: o.wake})
	if item.ReasonOf(err) == "POD_NOT_FOUND" && args[0] != "" && !o.named {
		return item.Errorf(item.KindNotFound, "POD_NOT_FOUND", "no pod named %q: if that is text, name the pod with -p POD", args[0])
	}
	return s.answer(resp, err, line("left a note for pod %s (#%d)", sanitize.Line(s.pod), resp.GetSeq()))
}

// noteText is input as one text, with standard input framed as in a prompt: a note has no
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
