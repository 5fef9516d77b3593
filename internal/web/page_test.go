package web_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// budget is what all files that a browser loads may have together, in bytes after gzip.
const budget = 150_000

// The page is small, and its own scripts never make elements of text.
func TestPageBudget(t *testing.T) {
	sum := 0
	tree := os.DirFS("page")
	check(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(" .html .js .css ", " "+path.Ext(name)+" ") {
			return err
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, err = z.Write(content)
		check(t, err)
		check(t, z.Close())
		sum += zipped.Len()
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
			if bytes.Contains(content, []byte(word)) {
				t.Errorf("%s has %s: use createElement and textContent", name, word)
			}
		}
		return nil
	}))
	t.Logf("%d bytes", sum)
	if sum > budget {
		t.Errorf("the page has %d bytes after gzip, %d at most", sum, budget)
	}
}

// The document names all modules, so that a browser loads them at once and not one behind another.
func TestPreloads(t *testing.T) {
	document, err := os.ReadFile("page/index.html")
	check(t, err)
	check(t, fs.WalkDir(os.DirFS("page"), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".js" && !bytes.Contains(document, []byte(`"/`+name+`"`)) {
			t.Errorf("index.html does not preload /%s", name)
		}
		return err
	}))
}

// What others wrote is as they published it.
func TestVendored(t *testing.T) {
	sums, err := os.ReadFile("page/vendor/SHA256SUMS")
	check(t, err)
	found := 0
	for line := range strings.Lines(string(sums)) {
		want, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			continue
		}
		content, err := os.ReadFile(path.Join("page/vendor", name))
		check(t, err)
		if got := sha256.Sum256(content); hex.EncodeToString(got[:]) != want {
			t.Errorf("%s has SHA-256 %x; SHA256SUMS says %s", name, got, want)
		}
		found++
	}
	if scripts, err := fs.Glob(os.DirFS("page/vendor"), "*.js"); err != nil || len(scripts) != found {
		t.Errorf("SHA256SUMS has %d of %d scripts (%v)", found, len(scripts), err)
	}
}
