package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func newInboxCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inbox [POD]",
		Short: "List the queued prompts of a pod",
		Long:  "Lists the queued prompts of a pod, the next one first.",
		RunE:  p.onPod(runInbox),
	}
	cmd.AddCommand(newInboxRmCommand(p))
	return cmd
}

func runInbox(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Pods().ListInbox(ctx, &poddv1.ListInboxRequest{Pod: s.pod})
	if err != nil {
		return err
	}
	none := "pod " + sanitize.Line(s.pod) + " has no queued prompts"
	return list(s.program, resp.GetItems(), none, "SEQ\tREQUEST ID\tMODE\tSUBMITTED\tTEXT", func(it *poddv1.InboxItem) []any {
		return []any{fmt.Sprintf("#%d", it.GetSeq()), it.GetRequestId(), wire.SubmitModeFromProto(it.GetMode()), stamp(it.GetTime().AsTime()), beginning(it.GetText())}
	})
}

func newInboxRmCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:               "rm [POD] REQUEST_ID",
		Short:             "Remove a queued prompt",
		ValidArgsFunction: p.completeOfPod(1, requests),
		RunE:              p.onPod(runInboxRm),
	}
}

func runInboxRm(ctx context.Context, s *session, args []string) error {
	id := valid(args[1])
	resp, err := s.Pods().ListInbox(ctx, &poddv1.ListInboxRequest{Pod: s.pod})
	if err != nil {
		return err
	}
	removed := &poddv1.InboxItem{RequestId: id}
	for _, it := range resp.GetItems() {
		if it.GetRequestId() == id {
			removed = it
		}
	}
	_, err = s.Pods().CancelInboxItem(ctx, &poddv1.CancelInboxItemRequest{Pod: s.pod, RequestId: id})
	return s.answer(removed, err, line("removed %s from the inbox of pod %s", sanitize.Line(id), sanitize.Line(s.pod)))
}

// requests finds the queued prompts of a pod.
func requests(ctx context.Context, s *session, offer func(value, about string)) error {
	resp, err := s.Pods().ListInbox(ctx, &poddv1.ListInboxRequest{Pod: s.pod})
	for _, it := range resp.GetItems() {
		offer(it.GetRequestId(), beginning(it.GetText()))
	}
	return err
}

// beginning is the first line of text, safe and not long.
func beginning(text string) string {
	first, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if len(first) > maxBeginning {
		first, more = strings.ToValidUTF8(first[:maxBeginning], ""), true
	}
	if more {
		first += "…"
	}
	return sanitize.Line(first)
}

// maxBeginning bounds what a table shows of a text, in bytes.
const maxBeginning = 60
