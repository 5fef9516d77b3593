package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func pruneToProto(k item.Prune) *poddv1.Prune {
	p := &poddv1.Prune{Policy: clean(k.Policy), Reason: clean(k.Reason)}
	if len(k.Seqs) > 0 {
		p.Seqs = make([]int64, len(k.Seqs))
	}
	for i, seq := range k.Seqs {
		p.Seqs[i] = int64(seq)
	}
	return p
}

func pruneFromProto(p *poddv1.Prune) item.Prune {
	k := item.Prune{Policy: p.GetPolicy(), Reason: p.GetReason()}
	if len(p.GetSeqs()) > 0 {
		k.Seqs = make([]item.Seq, len(p.GetSeqs()))
	}
	for i, seq := range p.GetSeqs() {
		k.Seqs[i] = item.Seq(seq)
	}
	return k
}
