package setup_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/internal/ops/setup"
	"podd/pkg/llm/scripted"
)

// serve is a model server, which refuses a model that it does not list.
func serve(t *testing.T) string {
	t.Helper()
	says := func(context.Context, scripted.Request) scripted.Reply {
		return scripted.Reply{Parts: []scripted.Part{scripted.Text("ready")}}
	}
	s, err := scripted.Serve(scripted.Config{Handler: says, Models: []string{"good", "better"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.URL()
}

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// A person chooses what does not work, then what does.
func TestChoose(t *testing.T) {
	base := serve(t)
	found := setup.Find(t.Context(), environment("OPENAI_BASE_URL="+base, "OPENAI_API_KEY=sk-1", "GROQ_API_KEY=gsk-2"))
	if len(found) < 2 || found[0].BaseURL != base || found[0].Key != "sk-1" || found[1].Name != "Groq" {
		t.Fatalf("found %v", found)
	}
	for name, typed := range map[string]string{
		"by number":        "1\n2\n",
		"by name":          "1\nbetter\n",
		"a mistake before": "99\nx\n1\nmissing\n1\n2\n",
		"by address":       "%another\n" + base + "\n2\n",
	} {
		t.Run(name, func(t *testing.T) {
			var shown strings.Builder
			typed = strings.Replace(typed, "%another", last(len(found)), 1)
			d := setup.Dialog{In: bufio.NewReader(strings.NewReader(typed)), Out: &shown, Secret: func() (string, error) { return "sk-3", nil }}
			c, model, err := d.Choose(t.Context(), found)
			if err != nil || c.BaseURL != base || model != "better" {
				t.Fatalf("%v, %q, %v\n%s", c, model, err, &shown)
			}
			if strings.Contains(shown.String(), "sk-") || !strings.Contains(shown.String(), "better answered in ") {
				t.Errorf("shown:\n%s", &shown)
			}
			if strings.Contains(name, "mistake") && !strings.Contains(shown.String(), "That did not work: ") {
				t.Errorf("shown:\n%s", &shown)
			}
		})
	}
}

func last(found int) string { return string(rune('1' + found)) }

// The end of the input, and a signal, leave the dialog.
func TestLeave(t *testing.T) {
	d := setup.Dialog{In: bufio.NewReader(strings.NewReader("1\n")), Out: &strings.Builder{}}
	if _, _, err := d.Choose(t.Context(), []setup.Choice{{Name: "gone", BaseURL: "http://127.0.0.1:1/v1"}}); !errors.Is(err, setup.ErrLeft) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.In = bufio.NewReader(strings.NewReader("1\nm\n"))
	if _, _, err := d.Choose(ctx, []setup.Choice{{Name: "gone", BaseURL: "http://127.0.0.1:1/v1"}}); !errors.Is(err, setup.ErrLeft) {
		t.Error(err)
	}
}

// What was in the file stays; a linked file stays linked; another key stays; a file that podd refuses is not written.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	linked := filepath.Join(dir, "dotfiles.toml")
	if err := os.WriteFile(linked, []byte("\ufeff[limits]\nmax_steps = 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "podd", "config.toml")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(linked, file); err != nil {
		t.Fatal(err)
	}
	plan := setup.Choice{ID: "groq", BaseURL: "http://ann:pw@h/v1?key=k", Key: "sk-1"}.Plan(file, "groq/a\"b")
	for _, secret := range []string{"sk-1", "pw", "key=k"} {
		if strings.Contains(plan.String(), secret) {
			t.Errorf("the plan shows %q:\n%s", secret, plan)
		}
	}
	files := func() (names []string) {
		for _, d := range []string{dir, filepath.Dir(file)} {
			entries, err := os.ReadDir(d)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				names = append(names, e.Name())
			}
		}
		return names
	}
	before := files()
	refuses := errors.New("refused")
	if err := plan.Write(func(string) error { return refuses }); !errors.Is(err, refuses) || !slices.Equal(files(), before) {
		t.Errorf("%v, and %v is there", err, files())
	}
	accepts := func(string) error { return nil }
	if err := plan.Write(accepts); err != nil {
		t.Fatal(err)
	}
	key := filepath.Dir(file) + "/groq_api_key"
	want := "endpoint = \"groq\"\nmodel = \"groq/groq/a\\\"b\"\n\n[limits]\nmax_steps = 7\n\n" +
		"[endpoints.groq]\nbase_url = \"http://ann:pw@h/v1?key=k\"\nkey_file = \"" + key + "\"\n"
	if got, err := os.ReadFile(linked); err != nil || string(got) != want {
		t.Errorf("config.toml has %q, %v", got, err)
	}
	if info, err := os.Lstat(file); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("config.toml is %v, %v", info, err)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file is %v, %v", info, err)
	}
	plan.Key = "sk-2"
	if err := plan.Write(accepts); err == nil || !strings.Contains(err.Error(), "has another key") {
		t.Error(err)
	}
	if got, err := os.ReadFile(key); err != nil || string(got) != "sk-1\n" {
		t.Errorf("the key is %q, %v", got, err)
	}
	if err := os.Remove(linked); err != nil {
		t.Fatal(err)
	}
	plan.Key = ""
	if err := plan.Write(accepts); err == nil || !strings.Contains(err.Error(), "a link to a file that is not there") {
		t.Error(err)
	}
}
