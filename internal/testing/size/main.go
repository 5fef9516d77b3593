// Command size prints where the code of a tree is: the code lines of each package, without blank lines, comments,
// tests and generated code; the packages that import most others of the module; and the widest types. A function that takes
// a pointer to a type of its own package counts as a method of that type. The methods of a wrapper count for the type inside.
// Last come the packages whose files use each other most in both directions.
// It informs, and judges nothing.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"log"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// How many rows each table has.
const (
	mostPackages = 25
	mostTypes    = 12
)

// machinery are the folders that the product does not import.
var machinery = []string{"internal/testing/", "integrations/", "examples/", "pkg/llm/scripted/"}

// isMachinery says whether a package exists for tests.
func isMachinery(pkg string) bool {
	return strings.HasSuffix(pkg, "test") || slices.ContainsFunc(machinery, func(m string) bool { return strings.HasPrefix(pkg+"/", m) })
}

// typeName is a type of a package.
type typeName struct{ pkg, name string }

// width is what a type has.
type width struct {
	declared, functions int
	// wraps is the only field of the type, if that is a pointer to another one of its package.
	wraps string
}

// tree is what was counted.
type tree struct {
	module  string
	lines   map[string]int
	imports map[string]map[string]bool
	types   map[typeName]*width
}

func main() {
	log.SetFlags(0)
	t := tree{lines: map[string]int{}, imports: map[string]map[string]bool{}, types: map[typeName]*width{}}
	if err := t.read(os.DirFS(".")); err != nil {
		log.Fatalf("cannot read the tree: %v; run it in the root of the module", err)
	}
	t.print(os.Stdout)
	drawings, err := draw()
	if err != nil {
		log.Fatal(err)
	}
	printArrows(os.Stdout, drawings)
}

// read counts all files of a module.
func (t *tree) read(root fs.FS) error {
	mod, err := fs.ReadFile(root, "go.mod")
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	t.module = strings.TrimPrefix(first, "module ")
	var files []*ast.File
	var in []string
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (slices.Contains([]string{"testdata", "node_modules", "bin"}, d.Name()) || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		pkg := path.Dir(name)
		t.lines[pkg] += codeLines(text)
		t.addFile(pkg, file)
		files, in = append(files, file), append(in, pkg)
		return nil
	})
	for i, file := range files {
		t.addFuncs(in[i], file)
	}
	return err
}

// codeLines counts the lines that have a token which is no comment.
func codeLines(text []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return len(lines)
		case tok == token.SEMICOLON && literal != ";":
			continue // It is the end of a line.
		}
		from := file.Line(pos)
		for n := range bytes.Count([]byte(literal), []byte("\n")) + 1 {
			lines[from+n] = true
		}
	}
}

// addFile counts the imports and the types of a file.
func (t *tree) addFile(pkg string, file *ast.File) {
	if t.imports[pkg] == nil {
		t.imports[pkg] = map[string]bool{}
	}
	for _, spec := range file.Imports {
		if p := strings.Trim(spec.Path.Value, `"`); strings.HasPrefix(p, t.module+"/") {
			t.imports[pkg][p] = true
		}
	}
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range decl.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			w := &width{}
			t.types[typeName{pkg, spec.Name.Name}] = w
			if fields, ok := spec.Type.(*ast.StructType); ok && fields.Fields.NumFields() == 1 {
				w.wraps = pointed(fields.Fields.List[0].Type)
			}
		}
	}
}

// addFuncs counts the functions of a file. All types are known.
func (t *tree) addFuncs(pkg string, file *ast.File) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if f.Recv != nil {
			if w := t.types[typeName{pkg, named(f.Recv.List[0].Type)}]; w != nil {
				w.declared++
			}
			continue
		}
		for _, p := range f.Type.Params.List[:min(2, len(f.Type.Params.List))] {
			if w := t.types[typeName{pkg, pointed(p.Type)}]; w != nil && !strings.HasPrefix(f.Name.Name, "new") {
				w.functions++
				break
			}
		}
	}
}

// pointed is the name of the type that a pointer is to; empty for other types.
func pointed(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		return named(star.X)
	}
	return ""
}

// named is the name of a type of the same package, or of the one that a pointer is to.
func named(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return named(e.X)
	case *ast.IndexExpr:
		return named(e.X)
	case *ast.IndexListExpr:
		return named(e.X)
	}
	return ""
}

// print prints the tables.
func (t *tree) print(w io.Writer) {
	packages, product, rest := 0, 0, 0
	for pkg, n := range t.lines {
		if isMachinery(pkg) {
			rest += n
		} else {
			packages, product = packages+1, product+n
		}
	}
	fmt.Fprintf(w, "product %d code lines in %d packages; machinery %d\n", product, packages, rest)
	largest := slices.SortedFunc(maps.Keys(t.lines), func(a, b string) int { return cmp.Or(t.lines[b]-t.lines[a], cmp.Compare(a, b)) })
	for _, pkg := range largest[:min(mostPackages, len(largest))] {
		note := ""
		if isMachinery(pkg) {
			note = ", machinery"
		}
		fmt.Fprintf(w, "%7d %s (imports %d%s)\n", t.lines[pkg], pkg, len(t.imports[pkg]), note)
	}
	fmt.Fprintln(w, "\nwidest types: methods, functions over it, and methods of types that only wrap it")
	all := map[typeName]int{}
	wrappers := map[typeName][]string{}
	for name, w := range t.types {
		all[name] += w.declared + w.functions
		if wrapped := (typeName{name.pkg, w.wraps}); t.types[wrapped] != nil {
			all[wrapped] += w.declared
			wrappers[wrapped] = append(wrappers[wrapped], name.name)
		}
	}
	widest := slices.SortedFunc(maps.Keys(all), func(a, b typeName) int {
		return cmp.Or(all[b]-all[a], cmp.Compare(a.pkg+"."+a.name, b.pkg+"."+b.name))
	})
	for _, name := range widest[:min(mostTypes, len(widest))] {
		of := t.types[name]
		fmt.Fprintf(w, "%7d %s.%s (%d methods, %d functions, %d wrappers)\n", all[name], name.pkg, name.name, of.declared, of.functions, len(wrappers[name]))
	}
}
