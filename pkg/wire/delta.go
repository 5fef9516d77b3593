package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

var deltaKinds = enum[item.DeltaKind]{
	poddv1.DeltaKind_DELTA_KIND_TEXT:           item.DeltaText,
	poddv1.DeltaKind_DELTA_KIND_REASONING:      item.DeltaReasoning,
	poddv1.DeltaKind_DELTA_KIND_TOOL_ARGUMENTS: item.DeltaToolArguments,
	poddv1.DeltaKind_DELTA_KIND_TOOL_OUTPUT:    item.DeltaToolOutput,
}

// DeltaToProto converts a fragment. A fragment that ends inside a rune has its
// incomplete bytes replaced: callers cut fragments at rune boundaries.
func DeltaToProto(d item.Delta) *poddv1.Delta {
	return &poddv1.Delta{
		Turn:      d.Turn,
		Step:      toInt32(d.Step),
		Block:     clean(d.Block),
		Kind:      poddv1.DeltaKind(deltaKinds.number(d.Kind)),
		CallId:    clean(d.CallID),
		Tool:      clean(d.Tool),
		Text:      clean(d.Text),
		Restarted: d.Restarted,
	}
}

// DeltaFromProto converts a fragment. A kind that this podd does not know is
// empty.
func DeltaFromProto(p *poddv1.Delta) item.Delta {
	return item.Delta{
		Turn:      p.GetTurn(),
		Step:      int(p.GetStep()),
		Block:     p.GetBlock(),
		Kind:      deltaKinds.name(int32(p.GetKind())),
		CallID:    p.GetCallId(),
		Tool:      p.GetTool(),
		Text:      p.GetText(),
		Restarted: p.GetRestarted(),
	}
}

// InFlightToProto converts unfinished blocks, in order.
func InFlightToProto(blocks []item.Delta) *poddv1.InFlight {
	p := &poddv1.InFlight{Blocks: make([]*poddv1.Delta, len(blocks))}
	for i, d := range blocks {
		p.Blocks[i] = DeltaToProto(d)
	}
	return p
}

// InFlightFromProto converts unfinished blocks, in order.
func InFlightFromProto(p *poddv1.InFlight) []item.Delta {
	if len(p.GetBlocks()) == 0 {
		return nil
	}
	out := make([]item.Delta, len(p.GetBlocks()))
	for i, d := range p.GetBlocks() {
		out[i] = DeltaFromProto(d)
	}
	return out
}
