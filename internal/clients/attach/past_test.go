package attach

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Prompts of all views come back, those of this directory as the latest; two views lose
// none of each other's.
func TestPast(t *testing.T) {
	dir := t.TempDir()
	p := pastFile(func(string) string { return dir })
	var views sync.WaitGroup
	for view := range 2 {
		views.Go(func() {
			for i := range 50 {
				if err := p.add(pastPrompt{Dir: fmt.Sprintf("/%d", view), Parts: pastParts(*written(fmt.Sprintf("prompt %d\nof view %d", i, view)))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	views.Wait()
	read := func() (texts []string) {
		for _, prompt := range p.read("/0") {
			texts = append(texts, prompt.whole())
		}
		return texts
	}
	got := read()
	if len(got) != 100 || got[99] != "prompt 49\nof view 0" || got[49] != "prompt 49\nof view 1" {
		t.Errorf("%d prompts, the last is %q", len(got), got[max(len(got)-1, 0)])
	}
	info, err := os.Stat(filepath.Join(dir, "podd", "history.jsonl"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(p.path, append([]byte("damaged\n"), []byte(strings.Repeat(`{"dir":"/0","text":"old"}`+"\n", 2000))...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.add(pastPrompt{Dir: "/0", Parts: pastParts(*written("new"))}); err != nil {
		t.Fatal(err)
	}
	if got := read(); len(got) > mostRecalled || got[len(got)-1] != "new" || slices.Contains(got, "") {
		t.Errorf("%d prompts are left", len(got))
	}
	link := filepath.Join(dir, "elsewhere")
	if err := os.Rename(p.path, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(link, p.path); err != nil {
		t.Fatal(err)
	}
	if err := p.add(pastPrompt{}); err == nil {
		t.Error("it follows a link")
	}
}

func TestWhatThePastKeeps(t *testing.T) {
	long := written("see ")
	long.pasted(strings.Repeat("line\n", 1000))
	short := written("see ")
	short.pasted("a\nb\n")
	for name, tt := range map[string]struct {
		e    *editor
		want bool
	}{
		"a prompt": {written("fix it"), true}, "a short paste": {short, true}, "a long paste": {long, false},
		"a blank": {written(" fix it"), false}, "a command": {written("/model x"), false},
		"a key": {written("use sk-proj-" + strings.Repeat("aB3dE5gH", 6)), false}, "nothing": {written(""), false},
	} {
		if got := keeps(*tt.e); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
