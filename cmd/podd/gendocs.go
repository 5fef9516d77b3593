//go:build gendocs

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"podd/internal/ops/manpage"
	"podd/internal/ops/service"
)

// init makes this build of podd write the files installed with it: `podd gen-docs DIR`.
// The program that users get is built without the tag and lacks it.
func init() {
	if len(os.Args) != 3 || os.Args[1] != "gen-docs" {
		return
	}
	if err := genDocs(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "podd gen-docs:", err)
		os.Exit(exitFailed)
	}
	os.Exit(exitDone)
}

func genDocs(dir string) error {
	root := newRootCommand(&program{env: func(string) string { return "" }})
	if err := manpage.Write(dir, root, func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }); err != nil {
		return err
	}
	// Units for a package, whose head does not mention podd service install.
	units := filepath.Join(dir, "systemd", "user")
	if err := os.MkdirAll(units, 0o755); err != nil {
		return err
	}
	for _, f := range service.Units(service.Plan{Program: "/usr/bin/podd"}) {
		_, text, _ := strings.Cut(f.Text, "\n\n")
		if err := os.WriteFile(filepath.Join(units, f.Path), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
