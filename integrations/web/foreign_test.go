//go:build integrations

package web

import "testing"

// TestForeignPages has other pages attack that of a person who is logged in.
func TestForeignPages(t *testing.T) {
	w, c := served(t)
	runs(t, w, "foreign.test.mjs", "PAGE="+paired(t, w, c))
}
