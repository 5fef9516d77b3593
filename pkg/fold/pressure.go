package fold

import (
	"cmp"
	"fmt"
	"slices"

	"podd/pkg/item"
)

// relieve prunes further results when the request would fill too much of the model's
// window, first those whose miss costs least for the room that they free.
func (l *Ledger) relieve(d Decision, s *stakes) Decision {
	window := float64(l.kept.Terms.Window)
	size := l.Tokens() - d.Saved
	if window <= 0 || float64(size) <= l.cfg.Pressure.Above*window {
		return d
	}
	chosen, more, next := make([]int, 0, len(d.Seqs)), 0, size
	for _, seq := range d.Seqs {
		i, _ := l.find(seq)
		chosen = append(chosen, i)
	}
	for _, i := range l.cheapest(d.Seqs, s) {
		if float64(next) <= l.cfg.Pressure.To*window {
			break
		}
		chosen = append(chosen, i)
		next -= l.kept.Records[i].saving()
		more++
	}
	if more == 0 {
		return d
	}
	all := l.decision(chosen, PolicyPressure)
	all.Gain, all.Price = d.Gain, d.Price
	all.Reason = fmt.Sprintf("%s: the request would fill %.0f %% of the window and fills %.0f %%",
		all.extent(), 100*float64(l.Tokens())/window, 100*float64(next)/window)
	return all
}

// cheapest are the records that may be pruned and are not among taken, by the expected
// cost of a miss for each token that pruning saves, the older first.
func (l *Ledger) cheapest(taken []item.Seq, s *stakes) []int {
	type offer struct {
		index int
		cost  float64
	}
	var offers []offer
	for _, i := range l.open {
		r := &l.kept.Records[i]
		if _, ok := slices.BinarySearch(taken, r.Seq); ok || !l.may(r) {
			continue
		}
		cost := s.need(r) * (s.write*float64(r.Tokens) + s.miss) / float64(r.saving())
		offers = append(offers, offer{i, cost})
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return cmp.Compare(a.cost, b.cost) })
	order := make([]int, len(offers))
	for i, o := range offers {
		order[i] = o.index
	}
	return order
}
