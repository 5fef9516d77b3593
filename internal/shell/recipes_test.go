package shell_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"podd/internal/testing/pgtest"
	"podd/pkg/tool"
)

// keyRecipes are the commands of docs/reliability.md that use the key of a call, by their programs.
func keyRecipes(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n### The key of a call\n")
	text, _, _ = strings.Cut(text, "\n## ")
	found := make(map[string]string)
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
		program, _, _ := strings.Cut(block[1], " ")
		found[program] = block[1]
	}
	if len(found) != 3 {
		t.Fatalf("the page has %d recipes", len(found))
	}
	return found
}

// twice runs a recipe twice as one call, and once as another.
func (b *bench) twice(t *testing.T, command string) {
	t.Helper()
	if program := strings.Fields(command)[0]; program != "gh" {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	for _, key := range []string{"k1", "k1", "k2"} {
		out, err := b.tool("shell").Run(t.Context(), &tool.Invocation{Arguments: object("command", command), Key: key})
		if err != nil || out.IsError {
			t.Fatalf("%s: %+v, %v", command, out, err)
		}
	}
}

// A service gets the same key when a command of one call asks again.
func TestRecipeOfAnIdempotentService(t *testing.T) {
	var mu sync.Mutex
	charges := make(map[string]string)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		charges[r.Header.Get("Idempotency-Key")] = r.URL.Path + " " + r.FormValue("amount")
	}))
	defer s.Close()
	newBench(t, nil).twice(t, strings.ReplaceAll(keyRecipes(t)["curl"], "https://pay.example.com", s.URL))
	mu.Lock()
	defer mu.Unlock()
	if len(charges) != 2 || charges["k1"] != "/charges 100" || charges["k2"] != "/charges 100" {
		t.Errorf("charges %v", charges)
	}
}

func TestRecipeOfADatabase(t *testing.T) {
	// The path of a socket is short.
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	server, err := pgtest.Start(context.WithoutCancel(t.Context()), dir)
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop(false) })
	url := server.URL()
	b := newBench(t, nil, func(c *setup) { c.Env = append(c.Env, "DATABASE_URL="+url) })
	sql := func(query string) string {
		out, err := exec.CommandContext(t.Context(), "psql", url, "-Atc", query).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	sql("CREATE TABLE orders (call text UNIQUE, item text)")
	b.twice(t, keyRecipes(t)["psql"])
	if got := sql("SELECT call, item FROM orders ORDER BY call"); got != "k1|tea\nk2|tea\n" {
		t.Errorf("orders %q", got)
	}
}

// The program gh of this test keeps the texts of its issues in a file.
func TestRecipeOfGitHub(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\ncase $2 in\nlist) cat issues 2>/dev/null ;;\ncreate) echo \"$6\" >>issues ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, nil, func(c *setup) { c.Environ = []string{"PATH=" + bin + ":" + os.Getenv("PATH")} })
	b.twice(t, keyRecipes(t)["gh"])
	if got := b.read("issues"); got != "Filed by podd, call k1\nFiled by podd, call k2\n" {
		t.Errorf("issues %q", got)
	}
}
