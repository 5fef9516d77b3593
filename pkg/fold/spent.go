package fold

import "podd/pkg/item"

// Spent is what requests were billed.
type Spent struct {
	Usage item.Usage
	// Cost is in USD; Unpriced counts the requests without a known price.
	Cost     float64
	Unpriced int64
}

// Tokens are input and output together.
func (s Spent) Tokens() int64 { return item.Sum(s.Usage.Input, s.Usage.Output) }

// Add counts a request.
func (s *Spent) Add(u item.RequestUsage, models Models) {
	s.Usage = s.Usage.Add(u.Usage)
	if usd, known := models.Cost(u); known {
		s.Cost += usd
	} else {
		s.Unpriced += u.Usage.Requests
	}
}
