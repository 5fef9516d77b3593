package fold

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// functions returns the functions of a package by name, methods as Type.name.
func functions(t *testing.T, dir string) map[string]*ast.FuncDecl {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has %d files, error %v", dir, len(files), err)
	}
	found := make(map[string]*ast.FuncDecl)
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				of := fn.Recv.List[0].Type
				if p, ok := of.(*ast.StarExpr); ok {
					of = p.X
				}
				found[of.(*ast.Ident).Name+"."+fn.Name.Name] = fn
			}
		}
	}
	return found
}

// kinds are the names of all kinds of entries.
func kinds(t *testing.T) (names []string) {
	t.Helper()
	for name := range functions(t, "../item") {
		if kind, method, _ := strings.Cut(name, "."); method == "isKind" {
			names = append(names, kind)
		}
	}
	slices.Sort(names)
	if len(names) < 19 {
		t.Fatalf("there are %d kinds: %v", len(names), names)
	}
	return names
}

// named are the names of package item in the cases of a function.
func named(fn *ast.FuncDecl) map[string]bool {
	names := make(map[string]bool)
	ast.Inspect(fn, func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok {
			for _, e := range c.List {
				if s, ok := e.(*ast.SelectorExpr); ok {
					names[s.Sel.Name] = true
				}
			}
		}
		return true
	})
	return names
}

// Each kind of entry is handled: what it means to a pod and what clients show of it, or
// that they ignore it.
func TestEveryKindIsNamed(t *testing.T) {
	for _, place := range []struct {
		dir       string
		functions []string
	}{
		{".", []string{"State.Add", "Turn.add", "Context.carry", "Context.count"}},
		{"../transcript", []string{"Transcript.entry"}},
	} {
		found := make(map[string]bool)
		all := functions(t, place.dir)
		for _, name := range place.functions {
			fn := all[name]
			if fn == nil {
				t.Fatalf("%s has no %s", place.dir, name)
			}
			maps.Copy(found, named(fn))
		}
		for _, kind := range kinds(t) {
			if !found[kind] {
				t.Errorf("%v of %s neither handle item.%s nor ignore it by name", place.functions, place.dir, kind)
			}
		}
	}
}

// The sample log has each kind, so that its fold shows what a base keeps of it.
func TestSampleHasEveryKind(t *testing.T) {
	found := make(map[string]bool)
	for e := range sample(0, All) {
		found[reflect.TypeOf(e.Kind).Name()] = true
	}
	for _, kind := range kinds(t) {
		if !found[kind] {
			t.Errorf("the sample log has no item.%s", kind)
		}
	}
}
