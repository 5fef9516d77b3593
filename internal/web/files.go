package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed page
var embedded embed.FS

// page are the files of the page.
func page() fs.FS {
	tree, err := fs.Sub(embedded, "page")
	if err != nil {
		panic(err) // The directory is embedded.
	}
	return tree
}

// kinds are the files that are served, by the end of their names.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
}

// file is one file of the page.
type file struct {
	content    []byte
	kind, etag string
}

// files are those of a tree by their paths in addresses; index.html is "/" alone.
func files(tree fs.FS) (map[string]file, error) {
	found := map[string]file{}
	return found, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		kind, served := kinds[path.Ext(name)]
		if err != nil || entry.IsDir() || !served {
			return err
		}
		content, err := fs.ReadFile(tree, name)
		sum := sha256.Sum256(content)
		address := "/" + strings.TrimSuffix(name, "index.html")
		found[address] = file{content, kind, `"` + hex.EncodeToString(sum[:8]) + `"`}
		return err
	})
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", f.kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", f.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
}
