package main

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"podd/pkg/llm/scripted"
)

// recipeOf is what the requests of a documented recipe look like.
type recipeOf struct {
	// adds is configuration that the real host's name implies, to follow its address.
	adds string
	// path is that of the request, below the host, with its query; key is the header with the
	// key.
	path, key string
	model     string
	// has is a part of the body that is particular to the provider.
	has string
}

var recipes = map[string]recipeOf{
	"OpenAI":       {adds: "base_url = \"https://api.openai.com/v1\"\napi = \"responses\"\n", path: "/v1/responses", key: "Authorization", model: "gpt-5.1"},
	"Anthropic":    {adds: "api = \"messages\"\n", path: "/v1/messages", key: "X-Api-Key", model: "claude-sonnet-4-5"},
	"OpenRouter":   {path: "/api/v1/chat/completions", key: "Authorization", model: "anthropic/claude-sonnet-4.5"},
	"Ollama":       {path: "/v1/chat/completions", model: "qwen3-coder"},
	"llama.cpp":    {path: "/v1/chat/completions", model: "scripted"},
	"vLLM":         {path: "/v1/chat/completions", model: "scripted"},
	"Azure OpenAI": {path: "/openai/v1/responses", key: "Api-Key", model: "my-deployment"},
	"Azure OpenAI, dated version": {
		path: "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21", key: "Api-Key", model: "my-deployment",
	},
	"Gemini":   {path: "/v1beta/openai/chat/completions", key: "Authorization", model: "gemini-2.5-pro"},
	"DeepSeek": {adds: "max_output = 100\nquirks.old_max_tokens = true\n", path: "/v1/chat/completions", key: "Authorization", model: "deepseek-chat", has: `"max_tokens":100`},
	"xAI":      {path: "/v1/chat/completions", key: "Authorization", model: "grok-4"},
	"Mistral": {
		adds: "max_output = 100\nquirks = { no_stream_options = true, old_max_tokens = true }\n",
		path: "/v1/chat/completions", key: "Authorization", model: "devstral-medium-latest", has: `"stream":true,"max_tokens":100`,
	},
	"Groq":           {path: "/openai/v1/chat/completions", key: "Authorization", model: "openai/gpt-oss-120b"},
	"Qwen":           {path: "/compatible-mode/v1/chat/completions", key: "Authorization", model: "qwen3-coder-plus"},
	"LM Studio":      {path: "/v1/chat/completions", model: "qwen/qwen3-coder-30b"},
	"Amazon Bedrock": {path: "/v1/chat/completions", key: "Authorization", model: "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"},
}

var (
	recipeTitle = regexp.MustCompile(`(?m)^\*\*([^*]+)\*\*`)
	recipeTOML  = regexp.MustCompile("(?s)```toml\n(.*?)```")
	recipeHost  = regexp.MustCompile(`https?://[^/"]+`)
	recipeKey   = regexp.MustCompile(`key_env = "([A-Z_]+)"`)
	// wirePath is how the path of a request ends, whatever a provider puts before it.
	wirePath = regexp.MustCompile(`/(chat/completions|responses|messages|models)$`)
)

// documentedRecipes are the configurations of docs/model.md by their titles.
func documentedRecipes(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/model.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## Recipes\n")
	text, _, _ = strings.Cut(text, "\n## ")
	found := make(map[string]string)
	titles := recipeTitle.FindAllStringSubmatchIndex(text, -1)
	for i, at := range titles {
		end := len(text)
		if i+1 < len(titles) {
			end = titles[i+1][0]
		}
		if block := recipeTOML.FindStringSubmatch(text[at[1]:end]); block != nil {
			found[text[at[2]:at[3]]] = block[1]
		}
	}
	return found
}

// front is a provider's host: it passes requests on to a scripted model and keeps the last.
type front struct {
	mu   sync.Mutex
	last *http.Request
}

func (f *front) serve(t *testing.T, model string) (origin string) {
	t.Helper()
	to, err := url.Parse(model)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: to.Scheme, Host: to.Host})
		r.Out.URL.Path, r.Out.URL.RawQuery = "/v1"+wirePath.FindString(r.In.URL.Path), ""
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			f.mu.Lock()
			f.last = r.Clone(t.Context())
			f.mu.Unlock()
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Each recipe of the documentation works: its requests have the path, the model and the
// header with the key that the provider expects.
func TestRecipes(t *testing.T) {
	documented := documentedRecipes(t)
	if got, want := slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(recipes)); !slices.Equal(got, want) {
		t.Fatalf("the page has recipes for %q, the test knows %q", got, want)
	}
	for title, text := range documented {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			runRecipe(t, recipes[title], text)
		})
	}
}

func runRecipe(t *testing.T, want recipeOf, text string) {
	model, err := scripted.Serve(scripted.Config{Handler: func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("Hello.")) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	var f front
	origin := f.serve(t, model.URL())
	dir, err := os.MkdirTemp("", "podctl") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	before, after, ok := strings.Cut(text, "base_url = ")
	if line, rest, _ := strings.Cut(after, "\n"); ok {
		text = before + "base_url = " + line + "\n" + want.adds + rest
	} else {
		text = want.adds + text
	}
	config := recipeHost.ReplaceAllString(text, origin)
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir + "/home", "PODD_STATE_DIR=" + dir + "/state", "PODD_CONFIG=" + dir + "/config.toml",
		"GORACE=exitcode=99 atexit_sleep_ms=0",
	}}
	if want.key != "" {
		w.env = append(w.env, "OPENAI_API_KEY=recipe-key")
	}
	for _, variable := range recipeKey.FindAllStringSubmatch(text, -1) {
		w.env = append(w.env, variable[1]+"=recipe-key")
	}
	w.start()
	t.Cleanup(w.drain)
	p := w.podctl("submit", "-f", "hello").start()
	<-p.exited
	if !strings.Contains(p.out.String(), "Hello.") {
		t.Fatalf("no answer: %s%s\n%s", p.out.String(), p.err.String(), config)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if got := f.last.URL.RequestURI(); got != want.path {
		t.Errorf("path %s, want %s", got, want.path)
	}
	if want.key != "" && !strings.Contains(f.last.Header.Get(want.key), "recipe-key") {
		t.Errorf("no key in the header %s: %v", want.key, f.last.Header)
	}
	if body := string(model.Requests()[0]); !strings.Contains(body, `"model":"`+want.model+`"`) || !strings.Contains(body, want.has) {
		t.Errorf("body %.200s, want the model %s and %s", body, want.model, want.has)
	}
}
