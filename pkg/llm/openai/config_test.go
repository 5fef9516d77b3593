package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"podd/pkg/llm"
	"podd/pkg/llm/llmtest"
	"podd/pkg/llm/openai"
)

func TestConfigIsChecked(t *testing.T) {
	for base, says := range map[string]string{
		"localhost:11434/v1":          "http://",
		"api.example.com":             "http://",
		"ftp://example.com":           "http://",
		"http://":                     "host",
		"http://a b/v1":               "cannot be read",
		"https://example.com/v1#frag": "fragment",
	} {
		if _, err := openai.New(openai.Config{BaseURL: base}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", base, err)
		}
	}
	if _, err := openai.New(openai.Config{API: "completions"}); err == nil || !strings.Contains(err.Error(), `"chat" or "responses"`) {
		t.Error(err)
	}
}

func TestAPIFollowsTheHost(t *testing.T) {
	for base, want := range map[string]string{
		"":                              openai.APIResponses,
		"https://api.openai.com/v1":     openai.APIResponses,
		"https://API.openai.com/v1/":    openai.APIResponses,
		"https://eu.api.openai.com/v1":  openai.APIResponses,
		"https://api.openai.com.evil/":  openai.APIChat,
		"https://openrouter.ai/api/v1":  openai.APIChat,
		"http://127.0.0.1:11434/v1":     openai.APIChat,
		"https://notapi.openai.com/v1/": openai.APIChat,
	} {
		c, err := openai.New(openai.Config{BaseURL: base})
		if err != nil || c.API() != want {
			t.Errorf("%q: %v, %v", base, c.API(), err)
		}
	}
	c, err := openai.New(openai.Config{API: openai.APIChat})
	if err != nil || c.API() != openai.APIChat {
		t.Errorf("chat at OpenAI: %v, %v", c.API(), err)
	}
}

// TestRequestAsSent: requests follow Config, whatever the environment contains.
func TestRequestAsSent(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "sk-from-the-environment", "OPENAI_ADMIN_KEY": "sk-admin", "OPENAI_ORG_ID": "org", "OPENAI_PROJECT_ID": "proj",
		"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_CUSTOM_HEADERS": "X-Evil: 1", "OPENAI_WEBHOOK_SECRET": "w",
	} {
		t.Setenv(name, value)
	}
	for _, tc := range []struct {
		cfg  openai.Config
		path string
		auth string
	}{
		{openai.Config{}, "/v1/chat/completions", ""},
		{openai.Config{APIKey: "sk-mine"}, "/v1/chat/completions", "Bearer sk-mine"},
		{openai.Config{API: openai.APIResponses, APIKey: "sk-mine", UserAgent: "podd/1", Headers: map[string]string{"X-Title": "podd"}}, "/v1/responses", "Bearer sk-mine"},
	} {
		var got *http.Request
		c := serve(t, tc.cfg, func(w http.ResponseWriter, r *http.Request) {
			got = r
			w.WriteHeader(http.StatusTeapot)
		})
		_, _ = llmtest.Collect(c.Stream(t.Context(), []byte(`{}`)))
		if got == nil {
			t.Fatal("no request arrived")
		}
		h := got.Header
		if got.Method != "POST" || got.URL.Path != tc.path || got.ContentLength != 2 {
			t.Errorf("%s %s, %d bytes", got.Method, got.URL.Path, got.ContentLength)
		}
		if h.Get("Authorization") != tc.auth || h.Get("Content-Type") != "application/json" || h.Get("Accept") != "text/event-stream" {
			t.Errorf("headers %v", h)
		}
		for _, name := range []string{"X-Evil", "Openai-Organization", "Openai-Project"} {
			if h.Get(name) != "" {
				t.Errorf("%s is sent: %q", name, h.Get(name))
			}
		}
		if want := tc.cfg.UserAgent; want != "" && h.Get("User-Agent") != want || h.Get("X-Title") != tc.cfg.Headers["X-Title"] {
			t.Errorf("headers %v", h)
		}
	}
}

// TestNoKeyNoRequest: OpenAI without a key fails before anything is sent; the
// environment's proxy would see it.
func TestNoKeyNoRequest(t *testing.T) {
	c, err := openai.New(openai.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = llmtest.Collect(c.Stream(t.Context(), []byte(`{}`)))
	if llm.ClassOf(err) != llm.ClassNoKey || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Error(err)
	}
}
