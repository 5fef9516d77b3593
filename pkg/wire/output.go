package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

var outputKinds = enum[item.OutputKind]{
	poddv1.OutputKind_OUTPUT_KIND_READ:   item.OutputRead,
	poddv1.OutputKind_OUTPUT_KIND_SEARCH: item.OutputSearch,
	poddv1.OutputKind_OUTPUT_KIND_SHELL:  item.OutputShell,
	poddv1.OutputKind_OUTPUT_KIND_EDIT:   item.OutputEdit,
	poddv1.OutputKind_OUTPUT_KIND_TASK:   item.OutputTask,
	poddv1.OutputKind_OUTPUT_KIND_OTHER:  item.OutputOther,
}

var recoveries = enum[item.Recovery]{"", item.RecoveryFound, item.RecoveryAgain, item.RecoveryNoEffect, item.RecoveryUnknown}

func toolResultToProto(r item.ToolResult) *poddv1.ToolResult {
	return &poddv1.ToolResult{
		CallId:     clean(r.CallID),
		Tool:       clean(r.Tool),
		Summary:    clean(r.Summary),
		Content:    clean(r.Content),
		Images:     imagesToProto(r.Images),
		Diffs:      diffsToProto(r.Diffs),
		Kind:       poddv1.OutputKind(outputKinds.number(r.Kind)),
		Path:       clean(r.Path),
		Sticky:     r.Sticky,
		IsError:    r.IsError,
		Cut:        cutToProto(r.Cut),
		DurationMs: r.DurationMS,
		Aborted:    clean(r.Aborted),
		Denied:     r.Denied,
		Recovery:   poddv1.Recovery(recoveries.number(r.Recovery)),

		OriginalBytes: r.OriginalBytes(),
		Summarized:    r.Summarized,
	}
}

func toolResultFromProto(p *poddv1.ToolResult) item.ToolResult {
	return item.ToolResult{
		CallID: p.GetCallId(),
		Tool:   p.GetTool(),
		Output: item.Output{
			Summary: p.GetSummary(),
			Content: p.GetContent(),
			Images:  imagesFromProto(p.GetImages()),
			Diffs:   diffsFromProto(p.GetDiffs()),
			Kind:    outputKinds.name(int32(p.GetKind())),
			Path:    p.GetPath(),
			Sticky:  p.GetSticky(),
			IsError: p.GetIsError(),
			Cut:     cutFromProto(p.GetCut()),

			Summarized: p.GetSummarized(),
		},
		DurationMS: p.GetDurationMs(),
		Aborted:    p.GetAborted(),
		Denied:     p.GetDenied(),
		Recovery:   recoveries.name(int32(p.GetRecovery())),
	}
}

func diffsToProto(diffs *item.Diffs) (out []*poddv1.FileDiff) {
	for _, d := range diffs.List() {
		out = append(out, &poddv1.FileDiff{Path: clean(d.Path), Diff: clean(d.Diff)})
	}
	return out
}

func diffsFromProto(list []*poddv1.FileDiff) *item.Diffs {
	if len(list) == 0 {
		return nil
	}
	out := make(item.Diffs, len(list))
	for i, p := range list {
		out[i] = item.FileDiff{Path: p.GetPath(), Diff: p.GetDiff()}
	}
	return &out
}

func cutToProto(c *item.Cut) *poddv1.Cut {
	if c == nil {
		return nil
	}
	return &poddv1.Cut{
		TotalBytes: c.TotalBytes,
		TotalLines: c.TotalLines,
		KeptBytes:  c.KeptBytes,
		KeptLines:  c.KeptLines,
		SpoolPath:  clean(c.SpoolPath),
	}
}

func cutFromProto(p *poddv1.Cut) *item.Cut {
	if p == nil {
		return nil
	}
	return &item.Cut{
		TotalBytes: p.GetTotalBytes(),
		TotalLines: p.GetTotalLines(),
		KeptBytes:  p.GetKeptBytes(),
		KeptLines:  p.GetKeptLines(),
		SpoolPath:  p.GetSpoolPath(),
	}
}
