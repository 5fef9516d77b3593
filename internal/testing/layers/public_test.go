package layers_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"podd/internal/testing/layers"
)

// The public API is usable: another module's code can write each of its types.
func TestPublicNamesMentionNoInternalType(t *testing.T) {
	leaks, err := layers.Leaks(os.DirFS("../../.."), layers.Podd().Module, "pkg")
	if err != nil {
		t.Fatal(err)
	}
	for _, leak := range leaks {
		t.Error(leak)
	}
}

func TestLeaks(t *testing.T) {
	secret := &fstest.MapFile{Data: []byte("package secret\ntype Key struct{}\ntype Rule struct{}\nfunc (*Key) Turn(Rule) {}\n")}
	tests := map[string]struct {
		// source is package open, which may use secret.
		source string
		// want names what mentions an internal type, in order.
		want []string
	}{
		"nothing":              {"var Open = 1; type T struct{ N int }; func (T) F(error) (t T, err error) { return }", nil},
		"unexported":           {"var key secret.Key; type T struct { key secret.Key }; type t struct{ Key secret.Key }; func (T) use(secret.Key) {}", nil},
		"inside of a function": {"func F() { var k secret.Key; _ = k }", nil},
		"variable":             {"var V map[string][]*secret.Key", []string{"open.V"}},
		"inferred variable":    {"var V = new(secret.Key)", []string{"open.V"}},
		"field":                {"type T struct { N int; Key chan secret.Key }", []string{"open.T.Key"}},
		"parameter":            {"func F(k ...secret.Key) {}", []string{"open.F"}},
		"result of a method":   {"type T int; func (T) Key() (k secret.Key) { return }", []string{"open.T.Key"}},
		"method of a pointer":  {"type T int; func (*T) Key(secret.Key) {}", []string{"open.T.Key"}},
		"interface":            {"type T interface { Use(func(secret.Key) error) }", []string{"open.T.Use"}},
		"alias":                {"type T = secret.Key", []string{"open.T"}},
		"defined type":         {"type T []secret.Key", []string{"open.T"}},
		"constraint":           {"func F[T interface{ ~int | secret.Key }](T) {}", []string{"open.F"}},
		"type argument":        {"type List[T any] []T; var V List[secret.Key]", []string{"open.V"}},
		"embedded":             {"type T struct{ *secret.Key }", []string{"open.T.Key", "open.T.Turn"}},
		"through what is not exported": {
			"type inner struct{ Key secret.Key }; func New() *inner { return nil }", []string{"open.New.Key"},
		},
		"promoted": {
			"type inner struct{}; func (inner) Use(secret.Key) {}; type T struct{ inner }", []string{"open.T.Use", "open.T.inner.Use"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{
				"internal/secret/secret.go": secret,
				"pkg/open/open.go":          {Data: []byte("package open\nimport (\"made/internal/secret\"; \"example.com/other\")\nvar _ other.Thing\n" + tt.source)},
				"pkg/open/open_test.go":     {Data: []byte("package open\nimport \"made/internal/secret\"\nvar Test secret.Key")},
				"pkg/open/open_plan9.go":    {Data: []byte("package open\nimport \"made/internal/secret\"\nvar Plan9 secret.Key")},
				"pkg/internal/own/own.go":   {Data: []byte("package own\nimport \"made/internal/secret\"\nvar Own secret.Key")},
				"cmd/main.go":               {Data: []byte("package main\nimport \"made/internal/secret\"\nvar Main secret.Key")},
			}
			leaks, err := layers.Leaks(tree, "made", "pkg")
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(leaks, tt.want, func(leak, name string) bool {
				return strings.HasPrefix(leak, "pkg/open/open.go: "+name+" mentions internal/secret.")
			}) {
				t.Errorf("got %q, want what begins with %q", leaks, tt.want)
			}
		})
	}
}
