package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// built is what was built for a target.
type built struct {
	os, arch string
	// files are sorted by their place.
	files []file
}

// file is one file of an archive or a package.
type file struct {
	// place is where it goes below the prefix, such as bin/podd.
	place string
	// source is the file to copy.
	source string
	mode   fs.FileMode
}

// build builds the programs for each target, and what all targets share.
func (r *release) build(ctx context.Context) error {
	for target := range strings.SplitSeq(r.targets, ",") {
		system, arch, _ := strings.Cut(target, "/")
		bin := filepath.Join(r.work, "bin", system+"-"+arch)
		cmd := r.command(ctx, "go", "build", "-buildvcs=false", "-tags", "grpcnotrace",
			"-ldflags=-s -w -X podd/pkg/version.release="+r.version+" -X podd/pkg/version.commit="+r.commit,
			"-o", bin+"/", "./cmd/podd", "./cmd/podd-launch", "./cmd/podctl")
		cmd.Env = append(cmd.Env, "GOOS="+system, "GOARCH="+arch)
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("build for %s: %w", target, err)
		}
		var files []file
		for _, program := range []string{"podd", "podd-launch", "podctl"} {
			files = append(files, file{"bin/" + program, filepath.Join(bin, program), 0o755})
		}
		r.built = append(r.built, built{system, arch, files})
	}
	shared, err := r.shared(ctx)
	if err != nil {
		return err
	}
	for i, b := range r.built {
		r.built[i].files = slices.SortedFunc(slices.Values(append(b.files, shared...)), func(a, b file) int { return strings.Compare(a.place, b.place) })
	}
	return nil
}

// shared makes what does not depend on the target: manual pages, completions, units, the
// plugins and the documentation.
func (r *release) shared(ctx context.Context) ([]file, error) {
	share := filepath.Join(r.work, "share")
	for _, program := range []string{"podd", "podctl"} {
		if err := r.command(ctx, "go", "run", "-buildvcs=false", "-tags", "grpcnotrace,gendocs", "./cmd/"+program, "gen-docs", share).Run(); err != nil {
			return nil, fmt.Errorf("manual pages of %s: %w", program, err)
		}
	}
	extension, err := r.extension(ctx)
	if err != nil {
		return nil, fmt.Errorf("the extension of VS Code: %w", err)
	}
	files, err := below(share, "share")
	if err != nil {
		return nil, err
	}
	known, err := output(ctx, "git", "ls-files", "plugins/nvim", "docs/*.md", ":!docs/decisions", "examples/*.sh", "examples/nodes")
	if err != nil {
		return nil, err
	}
	for path := range strings.SplitSeq(known, "\n") {
		if plugin, ok := strings.CutPrefix(path, "plugins/nvim/"); ok {
			files = append(files, file{"share/nvim/site/pack/podd/start/podd/" + plugin, path, 0o644})
		} else {
			files = append(files, file{"share/doc/podd/" + path, path, 0o644})
		}
	}
	tags := filepath.Join(r.work, "tags")
	if err := helpTags("plugins/nvim/doc", tags); err != nil {
		return nil, err
	}
	return append(files,
		file{"share/nvim/site/pack/podd/start/podd/doc/tags", tags, 0o644},
		file{"share/podd/podd.vsix", extension, 0o644},
		file{"share/doc/podd/copyright", "LICENSE", 0o644},
		file{"share/doc/podd/README.md", "README.md", 0o644},
		file{"share/doc/podd/CHANGELOG.md", "CHANGELOG.md", 0o644},
	), nil
}

// extension packs the extension of VS Code. It works on a copy: others may build it in the repository meanwhile.
func (r *release) extension(ctx context.Context) (string, error) {
	const plugin, sdk = "plugins/vscode", "sdk/typescript"
	if err := r.command(ctx, "make", "-s", plugin+"/node_modules", sdk+"/node_modules").Run(); err != nil {
		return "", err
	}
	known, err := output(ctx, "git", "ls-files", plugin, sdk, "internal/web/page", "LICENSE")
	if err != nil {
		return "", err
	}
	tree := filepath.Join(r.work, "vscode")
	for path := range strings.SplitSeq(known, "\n") {
		if err := copyFile(path, filepath.Join(tree, path)); err != nil {
			return "", err
		}
	}
	for _, dir := range []string{plugin, sdk} {
		packages, err := filepath.Abs(dir + "/node_modules")
		if err != nil {
			return "", err
		}
		if err := os.Symlink(packages, filepath.Join(tree, dir, "node_modules")); err != nil {
			return "", err
		}
	}
	pack := r.command(ctx, "npm", "run", "--silent", "package")
	pack.Dir = filepath.Join(tree, plugin)
	pack.Stdout = nil // It tells how people publish it.
	return filepath.Join(tree, plugin, "dist", "podd.vsix"), pack.Run()
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// below is all files below a directory, placed below another.
func below(dir, place string) (files []file, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files = append(files, file{filepath.ToSlash(filepath.Join(place, rel)), path, 0o644})
		return err
	})
	return files, err
}

// helpTags writes to a file what :helptags of Neovim would write for a directory of pages.
func helpTags(dir, to string) error {
	pages, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return err
	}
	var lines []string
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		for word := range strings.FieldsSeq(string(text)) {
			tag, ok := strings.CutPrefix(word, "*")
			if tag, ok2 := strings.CutSuffix(tag, "*"); ok && ok2 && tag != "" && !strings.ContainsAny(tag, "*|") {
				lines = append(lines, tag+"\t"+filepath.Base(page)+"\t/*"+tag+"*\n")
			}
		}
	}
	slices.Sort(lines)
	return os.WriteFile(to, []byte(strings.Join(lines, "")), 0o644)
}
