package exchange

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"podd/pkg/llm"
)

const (
	// modelsTimeout bounds the request for the models.
	modelsTimeout = 15 * time.Second
	// modelsAge is how long an answer is kept.
	modelsAge = 5 * time.Minute
	// maxModels bounds the list's size; OpenRouter's has several MB.
	maxModels = 32 << 20
)

// modelCache is the endpoint's last answer for its default model.
type modelCache struct {
	name string
	at   time.Time
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
	c.mu.Lock()
	cached := c.models
	c.mu.Unlock()
	if cached.name != "" && time.Since(cached.at) < modelsAge {
		return cached.name, nil
	}
	first, err := c.firstModel(ctx)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	c.models = modelCache{name: first, at: time.Now()}
	c.mu.Unlock()
	return first, nil
}

// firstModel requests the endpoint's models.
func (c *Client) firstModel(ctx context.Context) (string, error) {
	e := c.Endpoint
	askCtx, dog := watch(ctx, modelsTimeout)
	defer dog.close()
	resp, err := c.wire.Send(askCtx, http.MethodGet, "models", nil)
	if resp == nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", e.connectionError(askCtx, err, false, false)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxModels))
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", e.connectionError(askCtx, err, false, false)
	}
	if resp.StatusCode == http.StatusOK && IsJSON(body) {
		if id := gjson.GetBytes(body, "data.0.id").String(); id != "" {
			return id, nil
		}
	}
	if resp.StatusCode >= 300 {
		if failed := e.httpError(resp, body, ""); failed.Class != llm.ClassProtocol && failed.Class != llm.ClassUnknownModel {
			return "", failed
		}
	}
	what := e.name() + " lists none; set model, or PODD_MODEL"
	if !gjson.GetBytes(body, "data").IsArray() && !strings.Contains(e.Base.Path, "/v1") {
		what = e.name() + " has no list of models at this address; set " + e.setting("base_url") + " to the address that ends in /v1"
	}
	return "", &llm.Error{Class: llm.ClassNoModel, Status: resp.StatusCode, Message: "no model is configured and " + what}
}
