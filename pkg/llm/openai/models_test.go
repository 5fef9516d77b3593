package openai_test

import (
	"context"
	"errors"
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
