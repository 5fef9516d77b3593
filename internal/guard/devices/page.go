package devices

import (
	"path/filepath"

	"podd/pkg/paths"
)

// SocketPath is where podd listens for podd web.
func SocketPath(stateDir string) string { return filepath.Join(stateDir, "web.sock") }

// Page is what podd web says of itself.
type Page struct {
	// Origin is where it serves the page.
	Origin string `json:"origin"`
	// Confinement says how the process that reads requests is confined; it begins with "no" if
	// it is not.
	Confinement string `json:"confinement"`
}

func pagePath(stateDir string) string { return filepath.Join(stateDir, "web.json") }

// WritePage tells podd of the page.
func WritePage(stateDir string, p Page) error {
	return paths.WriteRecord(pagePath(stateDir), p)
}

// ReadPage is the page that podd web told of last; empty if it never did.
func ReadPage(stateDir string) (p Page) {
	_ = paths.ReadRecord(pagePath(stateDir), &p)
	return p
}
