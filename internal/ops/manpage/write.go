// Package manpage writes the manual pages and completion scripts that are installed with a
// command line. It is not part of podd: the programs link it only with the build tag
// gendocs, for make install and make release.
//
// Rank 7: it imports cobra and its generator of manual pages.
package manpage

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Write writes the manual pages of a command and its subcommands, and its completion
// scripts for bash, zsh and fish, into dir, with the layout of /usr/share. The function bash
// writes the script for bash. The date of the pages is SOURCE_DATE_EPOCH, otherwise today.
func Write(dir string, root *cobra.Command, bash func(io.Writer) error) error {
	root.DisableAutoGenTag = true
	man := filepath.Join(dir, "man", "man1")
	if err := os.MkdirAll(man, 0o755); err != nil {
		return err
	}
	name := root.Name()
	// Each command sets its own title.
	header := &doc.GenManHeader{Section: "1", Source: "podd", Manual: "podd"}
	if err := doc.GenManTree(root, header, man); err != nil {
		return err
	}
	for path, write := range map[string]func(io.Writer) error{
		"bash-completion/completions/" + name:         bash,
		"zsh/site-functions/_" + name:                 root.GenZshCompletion,
		"fish/vendor_completions.d/" + name + ".fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
	} {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(path)), write); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
