package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	poddv1 "podd/proto/podd/v1"
)

// lettersOptions are the flags of letters.
type lettersOptions struct{ from, to string }

func (o *lettersOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "letters [POD]",
		Short: "List the letters that a pod got and sent",
		Long: "Lists the letters that a pod got and sent, the oldest first, with what became of each: on its way to a pod that can't be " +
			"reached, stored until a turn of the recipient takes it, taken, answered, or failed. podctl show POD has the whole text.",
		Example: "  podctl letters lead --to reviewer",
		RunE:    p.onPod(o.run),
	}
	cmd.Flags().StringVar(&o.from, "from", "", "only letters from this pod or person")
	cmd.Flags().StringVar(&o.to, "to", "", "only letters to this pod")
	return cmd
}

func (o *lettersOptions) run(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Letters().ListLetters(ctx, &poddv1.ListLettersRequest{Pod: s.pod})
	if err != nil {
		return err
	}
	other := func(l *poddv1.Letter) bool {
		return o.from != "" && o.from != l.GetFromName() && o.from != l.GetFrom() || o.to != "" && o.to != l.GetToName() && o.to != l.GetTo()
	}
	none := fmt.Sprintf("pod %s has no such letters", s.pod)
	return list(s.program, slices.DeleteFunc(resp.GetLetters(), other), none, "NUMBER\tSENT\tFROM\tTO\tSTATE\tTEXT", func(l *poddv1.Letter) []any {
		return []any{l.GetNumber(), clock(l.GetTime().AsTime(), s.now()), l.GetFromName(), l.GetToName(), letterState(l), l.GetBeginning()}
	})
}

// letterState says what became of a letter.
func letterState(l *poddv1.Letter) string {
	switch l.GetState() {
	case poddv1.LetterState_LETTER_STATE_STORED:
		return "stored"
	case poddv1.LetterState_LETTER_STATE_TAKEN:
		return fmt.Sprintf("taken in turn %d", l.GetTakenByTurn())
	case poddv1.LetterState_LETTER_STATE_ANSWERED:
		return fmt.Sprintf("answered by %d", l.GetAnswer())
	case poddv1.LetterState_LETTER_STATE_FAILED:
		return "failed: " + l.GetCause()
	case poddv1.LetterState_LETTER_STATE_ON_ITS_WAY:
		return "on its way"
	}
	return "-"
}
