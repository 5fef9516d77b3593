package setup

import (
	"context"
	"net/url"
	"slices"
	"sync"
	"time"

	"podd/internal/endpoints"
	"podd/internal/endpoints/dial"
	"podd/internal/guard/keys"
	"podd/pkg/item"
)

// Choice is an endpoint that a person may use.
type Choice struct {
	// ID is its name in config.toml, Name what people call it, such as "Ollama".
	ID, Name string
	// BaseURL includes the version.
	BaseURL string
	// Variable has the key in the environment; empty for an endpoint without a key, or with
	// one that a person typed.
	Variable string
	// Key is the key itself.
	Key string
	// Models are those that it lists, in its order.
	Models []string
}

// local are servers that run on a person's own machine, at the ports that they choose by default.
var local = []Choice{
	{ID: "ollama", Name: "Ollama", BaseURL: "http://127.0.0.1:11434/v1"},
	{ID: "lmstudio", Name: "LM Studio", BaseURL: "http://127.0.0.1:1234/v1"},
	{ID: "llamacpp", Name: "llama.cpp", BaseURL: "http://127.0.0.1:8080/v1"},
	{ID: "vllm", Name: "vLLM", BaseURL: "http://127.0.0.1:8000/v1"},
}

// hosted are vendors, by the variable that their own programs read.
var hosted = []Choice{
	{ID: "openai", Name: "OpenAI", BaseURL: "https://api.openai.com/v1", Variable: "OPENAI_API_KEY"},
	{ID: "anthropic", Name: "Anthropic", BaseURL: "https://api.anthropic.com/v1", Variable: "ANTHROPIC_API_KEY"},
	{ID: "openrouter", Name: "OpenRouter", BaseURL: "https://openrouter.ai/api/v1", Variable: "OPENROUTER_API_KEY"},
	{ID: "groq", Name: "Groq", BaseURL: "https://api.groq.com/openai/v1", Variable: "GROQ_API_KEY"},
	{ID: "mistral", Name: "Mistral", BaseURL: "https://api.mistral.ai/v1", Variable: "MISTRAL_API_KEY"},
	{ID: "deepseek", Name: "DeepSeek", BaseURL: "https://api.deepseek.com/v1", Variable: "DEEPSEEK_API_KEY"},
}

// custom is the ID of an endpoint that podd does not know.
const custom = "custom"

// probe bounds the wait for a server on this machine.
const probe = 2 * time.Second

// Find returns the endpoints whose keys are in the environment, then the servers that answer on
// this machine with a list of models. OPENAI_BASE_URL, which podd reads too, comes first.
func Find(ctx context.Context, env func(string) string) []Choice {
	var found []Choice
	if base := env("OPENAI_BASE_URL"); base != "" {
		c := Choice{ID: custom, Name: "OPENAI_BASE_URL", BaseURL: base, Key: env("OPENAI_API_KEY")}
		if c.Key != "" {
			c.Variable = "OPENAI_API_KEY"
		}
		found = append(found, c)
	}
	for _, c := range hosted {
		if c.Key = env(c.Variable); c.Key != "" && (c.Variable != "OPENAI_API_KEY" || len(found) == 0) {
			found = append(found, c)
		}
	}
	answers := slices.Clone(local)
	var wait sync.WaitGroup
	for i := range answers {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, probe)
			defer cancel()
			_ = answers[i].List(ctx) // A server that is not there.
		})
	}
	wait.Wait()
	for _, c := range answers {
		if len(c.Models) > 0 && !slices.ContainsFunc(found, func(f Choice) bool { return f.BaseURL == c.BaseURL }) {
			found = append(found, c)
		}
	}
	return found
}

// open opens the endpoint as podd will.
func (c Choice) open() (*dial.Set, error) {
	return dial.Open(dial.Config{
		Default:   item.DefaultEndpoint,
		Endpoints: []endpoints.Endpoint{{Name: item.DefaultEndpoint, BaseURL: c.BaseURL, Key: keys.Source{Value: c.Key, Setting: c.Variable}}},
		Learn:     func(string, ...string) {},
		Redact:    c.redact,
	}, nil)
}

// address is the endpoint's address without what may be secret: its user and its query.
func (c Choice) address() string {
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return "an invalid address"
	}
	base.User = nil
	if base.RawQuery != "" {
		base.RawQuery = "..."
	}
	return base.String()
}
