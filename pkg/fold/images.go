package fold

import (
	"fmt"
	"slices"

	"podd/pkg/item"
)

// PolicyImages is the policy of a decision that the number of images in a request forced.
const PolicyImages = "images"

// sendsImages says whether requests carry images.
func (s *Context) sendsImages() bool { return !s.ledger.kept.Terms.NoImages }

// tokensOf estimates what an item adds to a request.
func (s *Context) tokensOf(it item.Item) int {
	n := s.kept.Meter.tokens(size(it))
	if s.sendsImages() {
		for _, image := range item.ImagesOf(it) {
			n += image.Tokens()
		}
	}
	return n
}

// resizeImages follows a setup that sends images where the one before did not, or no longer.
func (s *Context) resizeImages() {
	sizes := make(map[int]int)
	for i, it := range s.items {
		if len(item.ImagesOf(it)) > 0 {
			sizes[i] = s.tokensOf(it)
		}
	}
	s.ledger.Resize(sizes)
}

// fewerImages goes on pruning where the request would carry more images than it may. Results
// that a request has carried come first, down to half of the limit, so that the next images
// find room; then, down to the limit, any others. In both the oldest comes first.
func (l *Ledger) fewerImages(d Decision) Decision {
	var chosen []int
	images := 0
	for i := range l.kept.Records {
		r := &l.kept.Records[i]
		if _, ok := slices.BinarySearch(d.Seqs, r.Seq); ok {
			chosen = append(chosen, i)
		} else if !r.pruned() {
			images += r.Images
		}
	}
	if images <= item.MaxImages || l.kept.Terms.NoImages {
		return d
	}
	left := images
	take := func(most int, may func(*record) bool) {
		for i := range l.kept.Records {
			r := &l.kept.Records[i]
			if left > most && r.Images > 0 && !r.pruned() && may(r) && !slices.Contains(chosen, i) {
				chosen = append(chosen, i)
				left -= r.Images
			}
		}
	}
	take(item.MaxImages/2, func(r *record) bool { return r.Result && r.Born < l.kept.Steps })
	take(item.MaxImages, func(*record) bool { return true })
	all := l.decision(chosen, PolicyImages)
	all.Gain, all.Price = d.Gain, d.Price
	all.Reason = fmt.Sprintf("%d images would be sent, and at most %d may be: %d stay", images, item.MaxImages, left)
	return all
}
