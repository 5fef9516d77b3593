package llm

import (
	"context"

	"podd/pkg/catalog"
)

// Offer is a model that an endpoint lists, and what the list says about it.
type Offer struct {
	Model string
	catalog.Facts
}

// Lister is optional for a Model: it has a list of its models.
type Lister interface {
	// Offers are the models that the endpoint lists, in its order. The answer may be some
	// minutes old. Every error is an *Error or the context's cause.
	Offers(ctx context.Context) ([]Offer, error)
	// Offered is the last answer, however old.
	Offered() Offered
}

// Offered is what is known of an endpoint's list without asking.
type Offered struct {
	Offers []Offer
	// Asked says that asking is not worth the time of a turn: the list came within the hour,
	// did not come, or says no more than the catalogue.
	Asked bool
	// Answered says that there is nothing else to learn: an endpoint may have no list.
	Answered bool
}
