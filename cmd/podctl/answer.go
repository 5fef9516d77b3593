package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// answerOptions are the flags of answer, and its operands.
type answerOptions struct {
	// call is 0 if the one question that waits is meant.
	call           int64
	text           string
	choices, texts []string
	dismiss        bool
}

func (o *answerOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "answer [POD] [CALL] [TEXT...]",
		Short: "Answer a question of a call that waits",
		Long: "Answers what the call CALL asks: with options, with TEXT, or with both. CALL may be left out if one question waits. " +
			"The first word is POD if a pod can have that name. podctl questions lists what waits.",
		Example: "  podctl questions\n  podctl answer api 42 --choice 2\n  podctl answer api 42 \"use the staging database\"\n" +
			"  podctl answer api 42 --choice 1:2 --text \"2:at noon\"     two questions",
		ValidArgsFunction: p.completeOfPod(1, calls),
		PreRunE:           o.take,
		RunE:              p.onPod(o.run),
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.choices, "choice", nil, "the option N, or option N of a question: N or QUESTION:N (repeatable)")
	f.StringArrayVar(&o.texts, "text", nil, "a text for one of several questions: QUESTION:TEXT (repeatable)")
	f.BoolVar(&o.dismiss, "dismiss", false, "leave the answer to the model")
	completeWith(cmd, "choice")
	completeWith(cmd, "text")
	return cmd
}

// take reads the operands behind POD.
func (o *answerOptions) take(_ *cobra.Command, args []string) error {
	rest := args[1:]
	if len(rest) > 0 {
		if n, err := strconv.ParseInt(rest[0], 10, 64); err == nil && n > 0 {
			o.call, rest = n, rest[1:]
		}
	}
	o.text = strings.Join(rest, " ")
	switch given := o.text != "" || len(o.choices) > 0 || len(o.texts) > 0; {
	case o.dismiss && given:
		return usagef("--dismiss leaves the answer to the model: leave out the answer")
	case !o.dismiss && !given:
		return usagef("answer needs TEXT, --choice or --dismiss: podctl questions shows what is asked")
	}
	return nil
}

func (o *answerOptions) run(ctx context.Context, s *session, _ []string) error {
	w, err := o.question(ctx, s)
	if err != nil {
		return err
	}
	req := &poddv1.ResolveApprovalRequest{Pod: s.pod, CallSeq: w.GetCallSeq(), Client: clientName, Digest: w.GetDigest(), Dismiss: o.dismiss}
	if f := wire.FormFromProto(w.GetForm()); f != nil && !o.dismiss {
		replies, err := o.replies(f)
		if err != nil {
			return err
		}
		req.Approve, req.Replies = true, wire.RepliesToProto(replies)
	}
	if _, err := s.Approvals().ResolveApproval(ctx, req); err != nil {
		return err
	}
	done := "answered"
	if o.dismiss {
		done = "dismissed"
	}
	return s.print(w, func(out io.Writer) error {
		shown := view.ApprovalFromProto(w)
		_, err := fmt.Fprintf(out, "%s\n%s call %d of pod %s\n", strings.Join(shown.Lines(s.columns(out)), "\n"), done, shown.Call, sanitize.Line(shown.Pod))
		return err
	})
}

// question is the one that is meant. One that does not wait is sent all the same: podd's error says why, and who answered.
func (o *answerOptions) question(ctx context.Context, s *session) (*poddv1.Approval, error) {
	list, err := approvals(ctx, s.Client, s.pod)
	if err != nil {
		return nil, err
	}
	var asked []*poddv1.Approval
	for _, w := range list {
		if w.GetCallSeq() == o.call {
			return w, nil
		}
		if w.GetForm() != nil {
			asked = append(asked, w)
		}
	}
	switch {
	case o.call > 0:
		return &poddv1.Approval{Pod: s.pod, PodName: s.pod, CallSeq: o.call}, nil
	case len(asked) == 1:
		return asked[0], nil
	case len(asked) == 0:
		return nil, item.Errorf(item.KindNotFound, "NO_QUESTION", "no question of pod %s waits: podctl questions lists what does", s.pod)
	}
	return nil, usagef("%d questions of pod %s wait: name the CALL, as podctl questions %[2]s shows it", len(asked), s.pod)
}

// replies are the answers of the command line to the questions of a form.
func (o *answerOptions) replies(f *item.Form) ([]item.FormReply, error) {
	replies := make([]item.FormReply, len(f.Questions))
	for _, choice := range o.choices {
		i, rest, err := questionOf(f, choice, "--choice")
		if err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(rest)
		if err != nil {
			return nil, usagef("--choice %q is not the number of an option", choice)
		}
		replies[i].Choices = append(replies[i].Choices, n)
	}
	for _, text := range o.texts {
		i, rest, err := questionOf(f, text, "--text")
		if err != nil {
			return nil, err
		}
		replies[i].Text = valid(rest)
	}
	if o.text == "" {
		return replies, nil
	}
	at := 0
	for i, r := range replies {
		if len(f.Questions) > 1 && len(r.Choices) == 0 && r.Text == "" {
			at = i
		}
	}
	if len(f.Questions) > 1 && (replies[at].Text != "" || len(replies[at].Choices) > 0) {
		return nil, usagef("each question has an answer already: give TEXT with --text QUESTION:TEXT")
	}
	replies[at].Text = valid(o.text)
	return replies, nil
}

// questionOf splits QUESTION:REST; without QUESTION it is the only question.
func questionOf(f *item.Form, value, flag string) (i int, rest string, err error) {
	if len(f.Questions) == 1 {
		return 0, strings.TrimPrefix(value, "1:"), nil
	}
	number, rest, named := strings.Cut(value, ":")
	n, err := strconv.Atoi(number)
	if err != nil || !named || n < 1 || n > len(f.Questions) {
		return 0, "", usagef("%s %q does not begin with the number of a question and a colon: the call asks %d", flag, value, len(f.Questions))
	}
	return n - 1, rest, nil
}
