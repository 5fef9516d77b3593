package layers

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Tree is the import graph of a module.
type Tree struct {
	module string
	// packages has the imports of each package by its path in the module.
	packages map[string][]use
}

// use is one import clause.
type use struct {
	path string
	file string
	// test says that the file is a test, outside that it is one of package x_test.
	test, outside bool
}

// Read reads a module's source tree without nested modules, testdata and directories that
// the go command ignores. A file that does not parse is an error.
func Read(fsys fs.FS, module string) (*Tree, error) {
	t := &Tree{module: module, packages: map[string][]use{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && skipped(fsys, name) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		return t.add(fsys, name)
	})
	if err != nil {
		return nil, fmt.Errorf("read the source of %s: %w", module, err)
	}
	return t, nil
}

func skipped(fsys fs.FS, dir string) bool {
	base := path.Base(dir)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

func (t *Tree) add(fsys fs.FS, name string) error {
	source, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	uses := t.packages[dir]
	test := strings.HasSuffix(name, "_test.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
	if err != nil {
		return err
	}
	for _, clause := range file.Imports {
		imported, err := strconv.Unquote(clause.Path.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		uses = append(uses, use{
			path:    imported,
			file:    name,
			test:    test,
			outside: test && strings.HasSuffix(file.Name.Name, "_test"),
		})
	}
	t.packages[dir] = uses
	return nil
}

// local is the path in the module of an imported package of the module.
func (t *Tree) local(imported string) (string, bool) {
	if imported == t.module {
		return ".", true
	}
	return strings.CutPrefix(imported, t.module+"/")
}

// Chain is a shortest chain of imports, without tests, from a package of the module to a
// package or module that target names, both ends included; nil without one. target is an
// import path and matches everything below it. A package that the tree does not have is
// an error.
func (t *Tree) Chain(from, target string) ([]string, error) {
	if _, ok := t.packages[from]; !ok {
		return nil, fmt.Errorf("there is no package %s in this tree", from)
	}
	seen := map[string]bool{from: true}
	for queue := [][]string{{from}}; len(queue) > 0; queue = queue[1:] {
		chain := queue[0]
		for _, u := range t.packages[chain[len(chain)-1]] {
			if u.test {
				continue
			}
			if under(u.path, target) {
				return append(slices.Clone(chain), u.path), nil
			}
			if dir, ok := t.local(u.path); ok && !seen[dir] {
				seen[dir] = true
				queue = append(queue, append(slices.Clone(chain), dir))
			}
		}
	}
	return nil, nil
}

// under says whether an import path is the given one or below it.
func under(imported, parent string) bool {
	rest, ok := strings.CutPrefix(imported, parent)
	return ok && (rest == "" || rest[0] == '/')
}
