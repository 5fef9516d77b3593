package fold

import "podd/pkg/item"

// Spent is what requests were billed.
type Spent struct {
	Usage item.Usage
	// Cost is in USD; Unpriced counts the requests whose price is not known.
	Cost     float64
	Unpriced int64
}

// Tokens are those in and out together.
func (s Spent) Tokens() int64 { return s.Usage.Input + s.Usage.Output }

func (s *Spent) add(u item.RequestUsage, prices []ModelPrice) {
	s.Usage = s.Usage.Add(u.Usage)
	if usd, known := CostOf(u, prices); known {
		s.Cost += usd
	} else {
		s.Unpriced += u.Usage.Requests
	}
}
