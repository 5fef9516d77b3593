//go:build gendocs

package main

import (
	"fmt"
	"io"
	"os"

	"podd/internal/ops/manpage"
)

// init adds `podctl gen-docs DIR`, which writes the manual pages and completion scripts.
// The podctl that users get is built without the tag and lacks it.
func init() {
	if len(os.Args) != 3 || os.Args[1] != "gen-docs" {
		return
	}
	root := newRootCommand(&program{env: func(string) string { return "" }})
	if err := manpage.Write(os.Args[2], root, func(w io.Writer) error { return bashCompletion(w, root) }); err != nil {
		fmt.Fprintln(os.Stderr, "podctl gen-docs:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
