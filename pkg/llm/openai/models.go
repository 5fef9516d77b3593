package openai

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
	// modelsTimeout bounds the question for the models.
	modelsTimeout = 15 * time.Second
	// modelsAge is how long an answer is kept.
	modelsAge = 5 * time.Minute
	// maxModels bounds the list's size; OpenRouter's has several MB.
	maxModels = 32 << 20
)

// modelCache is the default model as the endpoint last gave it.
type modelCache struct {
	name string
	at   time.Time
}

// Resolve gives name itself, or the endpoint's default for the empty name:
// DefaultModel at OpenAI, elsewhere the first model that the endpoint lists. The
// list is asked for at most every five minutes.
func (c *Client) Resolve(ctx context.Context, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	if c.endpoint.openAI {
		return DefaultModel, nil
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

// firstModel asks the endpoint for its models.
func (c *Client) firstModel(ctx context.Context) (string, error) {
	e := &c.endpoint
	askCtx, dog := watch(ctx, modelsTimeout)
	defer dog.close()
	var resp *http.Response
	err := c.sdk.Get(askCtx, "models", nil, &resp)
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
	if resp.StatusCode == http.StatusOK && isJSON(body) {
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
	if !gjson.GetBytes(body, "data").IsArray() && !strings.Contains(e.base.Path, "/v1") {
		what = e.name() + " has no list of models at this address; set base_url to the address that ends in /v1"
	}
	return "", &llm.Error{Class: llm.ClassNoModel, Status: resp.StatusCode, Message: "no model is configured and " + what}
}
