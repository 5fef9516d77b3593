package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"podd/pkg/llm"
	"podd/pkg/llm/openai"
)

func TestResolve(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
		want   string
		class  llm.Class
	}{
		"the first of the list": {200, `{"object":"list","data":[{"id":"qwen3:8b"},{"id":"llama"}]}`, "qwen3:8b", ""},
		"an empty list":         {200, `{"object":"list","data":[]}`, "", llm.ClassNoModel},
		"null":                  {200, `{"object":"list","data":null}`, "", llm.ClassNoModel},
		"a web page":            {200, `<html>`, "", llm.ClassNoModel},
		"no such path":          {404, `not found`, "", llm.ClassNoModel},
		"a wrong key":           {401, `{"error":{"message":"no"}}`, "", llm.ClassAuth},
		"an overloaded server":  {503, ``, "", llm.ClassOverloaded},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			c := serve(t, openai.Config{}, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet && r.URL.Path == "/v1/models" {
					asked++
				}
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			})
			for range 2 {
				got, err := c.Resolve(t.Context(), "")
				if got != tc.want || llm.ClassOf(err) != tc.class {
					t.Fatalf("%q, class %q, %v", got, llm.ClassOf(err), err)
				}
				if tc.class == llm.ClassNoModel && !strings.Contains(err.Error(), "PODD_MODEL") {
					t.Error(err)
				}
			}
			if want := map[bool]int{true: 1, false: 2}[tc.class == ""]; asked != want {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

// A connection that ends within an error does not hide it.
func TestResolveReadsAShortError(t *testing.T) {
	c := serve(t, openai.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":"no"}}`)
	})
	if _, err := c.Resolve(t.Context(), ""); llm.ClassOf(err) != llm.ClassAuth {
		t.Errorf("class %q: %v", llm.ClassOf(err), err)
	}
}

func TestResolveWithoutAsking(t *testing.T) {
	c, err := openai.New(openai.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Resolve(t.Context(), ""); err != nil || got != openai.DefaultModel {
		t.Errorf("OpenAI's default: %q, %v", got, err)
	}
}

func TestResolveIsCancelled(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := serve(t, openai.Config{}, func(_ http.ResponseWriter, r *http.Request) {
		cancel(why)
		<-r.Context().Done()
	})
	if _, err := c.Resolve(ctx, ""); !errors.Is(err, why) {
		t.Error(err)
	}
}

// An address without /v1 lists no models; the error says what is wrong with it.
func TestResolveAtAnAddressWithoutVersion(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	c, err := openai.New(openai.Config{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Resolve(t.Context(), "")
	if llm.ClassOf(err) != llm.ClassNoModel || !strings.Contains(err.Error(), "set base_url to the address that ends in /v1") {
		t.Errorf("class %q, %v", llm.ClassOf(err), err)
	}
}

// Each endpoint says in its own words what it knows of its models. What cannot be true is
// unknown.
func TestOffers(t *testing.T) {
	long := strings.Repeat("n", 201)
	for name, tc := range map[string]struct{ body, want string }{
		"OpenAI":       {`{"data":[{"id":"gpt-5.1","object":"model"},{"id":"o3"}]}`, "gpt-5.1 {0 0 []  <nil>}; o3 {0 0 []  <nil>}"},
		"vLLM":         {`{"data":[{"id":"q","max_model_len":65536}]}`, "q {65536 0 []  <nil>}"},
		"llama.cpp":    {`{"data":[{"id":"q","meta":{"n_ctx_train":262144,"n_ctx":8192}}]}`, "q {8192 0 []  <nil>}"},
		"Groq":         {`{"data":[{"id":"q","context_window":131072,"max_completion_tokens":32768}]}`, "q {131072 32768 []  <nil>}"},
		"Mistral":      {`{"data":[{"id":"q","max_context_length":131072,"capabilities":{"vision":false}}]}`, "q {131072 0 [] no <nil>}"},
		"a bare list":  {`[{"id":"q","context_length":4096,"type":"chat"},{"id":"e","type":"embedding"}]`, "q {4096 0 []  <nil>}"},
		"Anthropic":    {`{"data":[{"id":"c","max_input_tokens":200000,"max_tokens":64000,"capabilities":{"image_input":{"supported":true},"effort":{"supported":true,"low":{"supported":true},"max":{"supported":false}}}}]}`, "c {200000 64000 [low] yes <nil>}"},
		"impossible":   {`{"data":[{"id":"q","max_model_len":-1,"max_tokens":"many","pricing":{"prompt":"-1","completion":"-1"}},{"id":"a\nb"},{"id":"` + long + `"},{"id":""},null]}`, "q {0 0 []  <nil>}"},
		"odd efforts":  {`{"data":[{"id":"q","reasoning":{"supported_efforts":["low\u0007"]}}]}`, "q {0 0 []  <nil>}"},
		"not for text": {`{"data":[{"id":"q"},{"id":"i","architecture":{"output_modalities":["image"]}}]}`, "q {0 0 []  <nil>}"},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, openai.Config{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, tc.body) })
			offers, err := c.Offers(t.Context())
			var got []string
			for _, o := range offers {
				got = append(got, fmt.Sprintf("%s %v", o.Model, o.Facts))
			}
			if err != nil || strings.Join(got, "; ") != tc.want {
				t.Errorf("%v, %v, want %s", got, err, tc.want)
			}
		})
	}
	c := serve(t, openai.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":[{"id":"q","pricing":{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003"}},{"id":"free","pricing":{"prompt":"0","completion":"0"}}]}`)
	})
	offers, err := c.Offers(t.Context())
	if err != nil || len(offers) != 2 || offers[0].Price.CachedInput != 0.3 || offers[0].Price.Output != 15 || offers[1].Price == nil {
		t.Errorf("%+v, %v", offers, err)
	}
}
