//go:build integrations

package web

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"podd/integrations/rig"
)

// loads is what a file of the site loads from elsewhere, by the end of its name.
var loads = map[string]*regexp.Regexp{
	".html": regexp.MustCompile(`<(?:script|img|link|iframe|source)[^>]*\s(?:src|href)="(?:https?:)?//`),
	".css":  regexp.MustCompile(`url\(|@import`),
	".js":   regexp.MustCompile(`https?://|fetch\(|XMLHttpRequest`),
}

// The site has every page of the documentation, loads nothing from elsewhere, and its search finds a word.
func TestSite(t *testing.T) {
	site := filepath.Join(t.TempDir(), "site")
	rig.Run(t, exec.Command("make", "-s", "-C", rig.Root(), "site", "OUT="+site))
	docs, err := filepath.Glob(filepath.Join(rig.Root(), "docs", "*.md"))
	if err != nil || len(docs) < 30 {
		t.Fatalf("%d pages, %v", len(docs), err)
	}
	for _, page := range docs {
		name := strings.Replace(strings.TrimSuffix(filepath.Base(page), ".md")+".html", "README", "index", 1)
		if _, err := os.Stat(filepath.Join(site, "docs", name)); err != nil {
			t.Error(err)
		}
	}
	err = filepath.WalkDir(site, func(path string, e fs.DirEntry, err error) error {
		way := loads[filepath.Ext(path)]
		if err != nil || way == nil || e.Name() == "index.js" { // The index is text.
			return err
		}
		text, err := os.ReadFile(path)
		if found := way.Find(text); found != nil {
			t.Errorf("%s has %s", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	shown := rig.Run(t, exec.Command(rig.Need(t, "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--dump-dom", "file://"+filepath.Join(site, "docs", "cli.html")+"?q=steer%20plan"))
	if !regexp.MustCompile(`<ol id="results"[^>]*><li><a href="\.\./docs/[a-z-]+\.html#[^"]+">`).MatchString(shown) {
		t.Errorf("the search shows %.3000s", shown)
	}
}

// A link that leads nowhere is an error, and then there is no site.
func TestSiteRefusesBrokenLinks(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"README.md": "# A\n\n[b](docs/README.md#b) [c](docs/README.md#c) [d](d.md)\n", "docs/README.md": "# B\n\n![e](e.png) [out](../../x)\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(root, "out")
	build := exec.Command("go", "run", "./site", "-root", root, "-out", out)
	build.Dir = filepath.Join(rig.Root(), "packaging")
	said, err := build.CombinedOutput()
	for _, want := range []string{"README.md links to #c, which docs/README.md does not have", "README.md links to d.md,", "docs/README.md shows e.png,", "docs/README.md links to ../../x,"} {
		if err == nil || !strings.Contains(string(said), want) {
			t.Errorf("%v, and no %q: %s", err, want, said)
		}
	}
	if _, err := os.Stat(out); err == nil || strings.Contains(string(said), "#b") {
		t.Errorf("%s", said)
	}
}
