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
}
