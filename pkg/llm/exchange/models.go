package exchange

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"podd/pkg/catalog"
	"podd/pkg/llm"
)

const (
	// modelsTimeout bounds the request for the models.
	modelsTimeout = 15 * time.Second
	// modelsAge is how long an answer is kept.
	modelsAge = 5 * time.Minute
	// learnedAge is how long turns use a list.
	learnedAge = time.Hour
	// maxModels bounds the list's size; OpenRouter's has several MB.
	maxModels = 32 << 20
)

// modelCache is the endpoint's last list of models.
type modelCache struct {
	offers []llm.Offer
	// at is when the list came, tried when it was last asked for.
	at, tried time.Time
}

// Resolve returns name itself, or the endpoint's default for the empty name: the adapter's,
// otherwise the first model that the endpoint lists. It requests the list at most every
// five minutes.
func (c *Client) Resolve(ctx context.Context, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	if c.wire.DefaultModel != "" {
		return c.wire.DefaultModel, nil
	}
	offers, err := c.Offers(ctx)
	if err == nil {
		return offers[0].Model, nil
	}
	if none, ok := errors.AsType[*llm.Error](err); ok && none.Class == llm.ClassNoModel {
		none.Message = "no model is configured and " + none.Message + "; set model, or PODD_MODEL"
	}
	return "", err
}

// Offers are the models that the endpoint lists; at least one. It requests the list at
// most every five minutes.
func (c *Client) Offers(ctx context.Context) ([]llm.Offer, error) {
	c.mu.Lock()
	cached := c.models
	c.mu.Unlock()
	if len(cached.offers) > 0 && time.Since(cached.at) < modelsAge {
		return cached.offers, nil
	}
	offers, err := c.askOffers(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.models.tried = time.Now()
	if err == nil || llm.ClassOf(err) == llm.ClassNoModel {
		c.models.offers, c.models.at = offers, c.models.tried
	}
	return offers, err
}

// Offered are the models of the endpoint's last list; see llm.Lister. What vendors serve
// themselves, the catalogue knows.
func (c *Client) Offered() llm.Offered {
	c.mu.Lock()
	defer c.mu.Unlock()
	vendors := catalog.VendorAt(c.Endpoint.Base.Hostname()) != ""
	return llm.Offered{
		Offers: c.models.offers, Asked: vendors || time.Since(c.models.tried) < learnedAge, Answered: vendors || !c.models.at.IsZero(),
	}
}

// askOffers requests the endpoint's models. A list without models is an error of class
// ClassNoModel.
func (c *Client) askOffers(ctx context.Context) ([]llm.Offer, error) {
	e := c.Endpoint
	askCtx, dog := watch(ctx, modelsTimeout)
	defer dog.close()
	path := "models"
	if e.API == APIMessages {
		path += "?limit=1000"
	}
	resp, err := c.send(askCtx, http.MethodGet, path, nil)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, e.connectionError(askCtx, err, false, false)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxModels))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && resp.StatusCode < 300: // What arrived of an error says enough.
		return nil, e.connectionError(askCtx, err, false, false)
	}
	if resp.StatusCode == http.StatusOK && IsJSON(body) {
		if offers := readOffers(body); len(offers) > 0 {
			return offers, nil
		}
	}
	if resp.StatusCode >= 300 {
		if failed := e.httpError(resp, body); failed.Class != llm.ClassProtocol && failed.Class != llm.ClassUnknownModel {
			return nil, failed
		}
	}
	what := e.name() + " lists no models"
	if !gjson.GetBytes(body, "data").IsArray() && !strings.Contains(e.Base.Path, "/v1") {
		what = e.name() + " has no list of models at this address; set " + e.setting("base_url") + " to the address that ends in /v1"
	}
	return nil, &llm.Error{Class: llm.ClassNoModel, Status: resp.StatusCode, Message: what}
}
