package view_test

import (
	"bytes"
	"testing"
	"time"

	"go.uber.org/goleak"

	"podd/internal/clients/view"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 2, 3, 12, 1, 7, 0, time.Local)

func entry(seq, turn int64, kind item.Kind) *poddv1.StreamResponse {
	return &poddv1.StreamResponse{Kind: &poddv1.StreamResponse_Entry{
		Entry: wire.EntryToProto(item.Entry{Seq: item.Seq(seq), Time: noon, Turn: turn, Kind: kind}),
	}}
}

func added(seq, turn int64, it item.Item) *poddv1.StreamResponse {
	return entry(seq, turn, item.ItemAdded{Item: it})
}

func delta(d item.Delta) *poddv1.StreamResponse {
	return &poddv1.StreamResponse{Kind: &poddv1.StreamResponse_Delta{Delta: wire.DeltaToProto(d)}}
}

func text(turn int64, block, s string) item.Delta {
	return item.Delta{Turn: turn, Step: 1, Block: block, Kind: item.DeltaText, Text: s}
}

func inFlight(blocks ...item.Delta) *poddv1.StreamResponse {
	return &poddv1.StreamResponse{Kind: &poddv1.StreamResponse_InFlight{InFlight: wire.InFlightToProto(blocks)}}
}

func caughtUp() *poddv1.StreamResponse {
	return &poddv1.StreamResponse{Kind: &poddv1.StreamResponse_CaughtUp{CaughtUp: &poddv1.CaughtUp{}}}
}

// pipes is a console that is not a terminal.
type pipes struct{ out, err bytes.Buffer }

func (p *pipes) console() view.Console { return view.Console{Out: &p.out, Err: &p.err} }
