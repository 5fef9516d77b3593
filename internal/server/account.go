package server

import (
	"context"
	"fmt"
	"strings"

	"podd/internal/report"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// GetContext shows what the next request would send.
func (s *pods) GetContext(ctx context.Context, r *poddv1.GetContextRequest) (*poddv1.GetContextResponse, error) {
	c, err := s.host.Context(ctx, r.GetPod())
	if err != nil {
		return nil, err
	}
	answer := &poddv1.GetContextResponse{
		RequestBody:   c.Body,
		Tokens:        int64(c.Size.Total),
		FixedTokens:   int64(c.Size.Fixed),
		BilledTokens:  int64(c.Size.Billed),
		BytesPerToken: c.Size.BytesPerToken,
		Window:        int64(c.Size.Window),
		Model:         c.Model,

		ProjectInstructions: c.Project,
		ProjectSource:       c.ProjectSource,
	}
	for _, p := range c.Fixed {
		answer.Fixed = append(answer.Fixed, &poddv1.ContextPart{Kind: p.Kind, Name: p.Name, Count: int32(p.Count), Bytes: int64(p.Bytes), Tokens: int64(p.Tokens)})
	}
	for _, p := range c.Parts {
		answer.Items = append(answer.Items, contextItem(p))
	}
	return answer, nil
}

// headBytes is how many bytes of the start of an item are shown.
const headBytes = 200

func contextItem(p fold.Part) *poddv1.ContextItem {
	c := &poddv1.ContextItem{Seq: int64(p.Seq), Bytes: int64(p.Bytes), Tokens: int64(p.Tokens), Pruned: p.Pruned}
	text := ""
	switch it := p.Item.(type) {
	case item.UserMessage:
		c.Kind, text = "user", it.Text
	case item.SystemMessage:
		c.Kind, text, c.Note = "system", it.Text, it.Origin
	case item.AssistantMessage:
		c.Kind, text = "assistant", it.Text
	case item.Reasoning:
		c.Kind, text = "reasoning", it.Text
	case item.ToolCall:
		c.Kind, text = "tool_call", it.Name+" "+it.Arguments
	case item.ToolResult:
		c.Kind, text, c.Note = "tool_result", it.Summary, resultNote(it, p.Why)
	}
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > headBytes {
		text = strings.ToValidUTF8(text[:headBytes], "") + "…"
	}
	c.Head = strings.ToValidUTF8(text, "\uFFFD")
	return c
}

// resultNote says which part of a result is not sent, and why; or why all of it is.
func resultNote(r item.ToolResult, why string) string {
	var notes []string
	if r.Cut != nil {
		how := "cut"
		if r.Summarized {
			how = "summarized"
		}
		notes = append(notes, fmt.Sprintf("%s from %d to %d bytes", how, r.OriginalBytes(), r.Cut.KeptBytes))
	}
	if why != "" {
		notes = append(notes, why)
	}
	return strings.Join(notes, ", ")
}

// GetStats counts what a pod used.
func (s *pods) GetStats(ctx context.Context, r *poddv1.GetStatsRequest) (*poddv1.GetStatsResponse, error) {
	st, err := report.Count(ctx, s.host, r.GetPod())
	if err != nil {
		return nil, err
	}
	answer := &poddv1.GetStatsResponse{
		Usage:         wire.UsageToProto(st.Usage),
		Turns:         st.Turns,
		ToolCalls:     st.ToolCalls,
		Prunes:        st.Prunes,
		PrunedResults: st.PrunedResults,
		PrunedTokens:  st.PrunedTokens,
		Compactions:   st.Compactions,

		SparedPrunedTokens: st.Spared.Pruned, SparedCutTokens: st.Spared.Cut,
		SparedPrunedUsd: st.SparedPruned, SparedCutUsd: st.SparedCut,
		CostUsd: st.Cost, UnpricedRequests: st.Unpriced, Damaged: st.Damaged,
	}
	for _, m := range st.Models {
		answer.Models = append(answer.Models, &poddv1.ModelStats{
			Endpoint: m.Asked.Endpoint, Model: m.Asked.Model, Usage: wire.UsageToProto(m.Usage), CostUsd: m.Cost, UnpricedRequests: m.Unpriced,
			Cache: wire.CacheToProto(m.Cache),
		})
	}
	for _, t := range st.Tools {
		answer.Tools = append(answer.Tools, &poddv1.ToolStats{
			Tool: t.Tool, Calls: t.Calls, Errors: t.Errors, Cuts: t.Cuts, CutTotalBytes: t.CutTotal, CutKeptBytes: t.CutKept,
			Interrupted: t.Interrupted, Unknown: t.Unknown,
		})
	}
	return answer, nil
}

// Compact replaces older items with a summary.
func (s *pods) Compact(ctx context.Context, r *poddv1.CompactRequest) (*poddv1.CompactResponse, error) {
	seq, err := s.host.Compact(ctx, r.GetPod())
	if err != nil {
		return nil, err
	}
	return &poddv1.CompactResponse{Seq: int64(seq)}, nil
}
