package attach

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// imagePath reads the path of an image as terminals paste it when a file is dropped on them:
// plain, in quotes, with escaped spaces, or as a file URI. A terminal cannot paste the image
// itself.
func imagePath(text string) (path string, ok bool) {
	path = strings.TrimSpace(text)
	u, err := url.Parse(path)
	if err == nil && u.Scheme == "file" {
		path = u.Path
	}
	if n := len(path); n > 1 && path[0] == path[n-1] && strings.ContainsRune(`'"`, rune(path[0])) {
		path = path[1 : n-1]
	} else if err != nil || u.Scheme != "file" {
		path = unescaped(path)
	}
	kind := strings.ToLower(filepath.Ext(path))
	if !filepath.IsAbs(path) || !slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp"}, kind) {
		return "", false
	}
	return path, true
}

// unescaped is a path without the backslashes that a terminal puts before what a shell would read.
func unescaped(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+1 < len(path) {
			i++
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
