package layers

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
)

// Bounds limit the width of types and packages, without tests and generated code.
type Bounds struct {
	// Methods bounds those of a type, Fields those of a struct.
	Methods, Fields int
	// Imports bounds how many packages of the module a package imports.
	Imports map[string]int
	// Depth bounds the packages of the longest chain of imports that begins at a package.
	Depth map[string]int
	// Over has the exceptions for now: the name of what exceeds its bound, as in the error
	// ("methods of pkg/pod.Host"), and the value it may reach.
	Over map[string]int
}

// CheckBounds returns one sentence for everything that exceeds its bound, and for each
// entry of Over that is not needed. It is empty when all is well.
func (t *Tree) CheckBounds(b Bounds) []string {
	var found []string
	needed := map[string]bool{}
	check := func(what string, has, bound int, remedy string) {
		if has <= bound {
			return
		}
		needed[what] = true
		if ceiling, ok := b.Over[what]; ok {
			bound = ceiling
		}
		if has > bound {
			found = append(found, fmt.Sprintf("%s: %d, more than %d: %s", what, has, bound, remedy))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.methods)) {
		check("methods of "+name, len(t.methods[name]), b.Methods, "split the type into parts of one idea each")
	}
	for _, name := range slices.Sorted(maps.Keys(t.fields)) {
		check("fields of "+name, t.fields[name], b.Fields, "split the struct into parts of one idea each")
	}
	for _, dir := range slices.Sorted(maps.Keys(b.Imports)) {
		check("imports of "+dir, len(t.imports(dir)), b.Imports[dir], fmt.Sprintf("it imports %q: move out what needs most of them", t.imports(dir)))
	}
	deepest := map[string][]string{}
	for _, dir := range slices.Sorted(maps.Keys(b.Depth)) {
		chain := t.deepest(dir, deepest)
		check("import depth of "+dir, len(chain), b.Depth[dir], fmt.Sprintf("shorten %q", chain))
	}
	for _, what := range slices.Sorted(maps.Keys(b.Over)) {
		if !needed[what] {
			found = append(found, fmt.Sprintf("%s: within the bound by now: remove the entry from Over in %s", what, tableFile))
		}
	}
	return found
}

// measure counts the methods and fields of a file's types. It counts a method that each
// system has in its own file once, and of such structs the widest.
func (t *Tree) measure(dir string, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil {
				break
			}
			name := dir + "." + receiver(n.Recv.List[0].Type)
			if t.methods[name] == nil {
				t.methods[name] = map[string]bool{}
			}
			t.methods[name][n.Name.Name] = true
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				name := dir + "." + n.Name.Name
				t.fields[name] = max(t.fields[name], width(s))
			}
		}
		return true
	})
}

// width is the number of fields of a struct; an embedded field is one.
func width(s *ast.StructType) (fields int) {
	for _, f := range s.Fields.List {
		fields += max(1, len(f.Names))
	}
	return fields
}

// receiver is the name of a method's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

// imports are the packages of the module that a package imports, tests left out.
func (t *Tree) imports(dir string) []string {
	var dirs []string
	for _, u := range t.packages[dir] {
		if imported, ok := t.local(u.path); ok && !u.test && !slices.Contains(dirs, imported) {
			dirs = append(dirs, imported)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// deepest is a longest chain of imports from a package; known caches earlier results. Go
// has no cycles of imports.
func (t *Tree) deepest(dir string, known map[string][]string) []string {
	if chain, ok := known[dir]; ok {
		return chain
	}
	var longest []string
	for _, imported := range t.imports(dir) {
		if chain := t.deepest(imported, known); len(chain) > len(longest) {
			longest = chain
		}
	}
	known[dir] = append([]string{dir}, longest...)
	return known[dir]
}
