package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"text/template"
)

//go:embed recipes
var recipes embed.FS

// recipe is what the templates below recipes get.
type recipe struct {
	Version, URL string
	// Sum has the SHA-256 of each archive by OS-ARCH; a target that was not built has none.
	Sum map[string]string
}

// recipes writes install.sh, and with an address the formula of Homebrew and the flake of Nix.
func (r *release) recipes(context.Context) error {
	filled := recipe{r.number(), r.url, map[string]string{}}
	for _, b := range r.built {
		name := b.os + "-" + b.arch
		sum, err := sumOf(r.file("podd-" + r.number() + "-" + name + ".tar.gz"))
		if err != nil {
			return err
		}
		filled.Sum[name] = sum
	}
	files := map[string]fs.FileMode{"install.sh": 0o755}
	if r.url != "" {
		files["podd.rb"], files["flake.nix"] = 0o644, 0o644
	} else {
		fmt.Println("release: without URL, install.sh needs an address as its argument, and podd.rb and flake.nix are left out")
	}
	for name, mode := range files {
		if err := filled.write(name, r.file(name), mode); err != nil {
			return err
		}
	}
	return nil
}

func (f recipe) write(name, to string, mode fs.FileMode) error {
	page, err := template.New(name).Delims("<<", ">>").ParseFS(recipes, "recipes/"+name)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	return errors.Join(page.Execute(out, f), out.Close())
}
