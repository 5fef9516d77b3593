package layers

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Leaks returns one sentence for each exported name below the folder `public` whose type
// mentions a type of an internal package of the module: code outside of the module cannot
// write such a type. It checks fields, parameters, results, constraints and the methods
// of embedded types. fsys is the module's source tree.
//
// It type-checks only declarations, for this machine's system. It treats packages of
// other modules and the standard library as empty.
func Leaks(fsys fs.FS, module, public string) ([]string, error) {
	tree, err := Read(fsys, module)
	if err != nil {
		return nil, err
	}
	c := &checker{fsys: fsys, module: module, fset: token.NewFileSet(), checked: map[string]*types.Package{}}
	var found []string
	for dir := range tree.packages {
		if !under(dir, public) || internalPath(dir) {
			continue
		}
		pkg, err := c.Import(module + "/" + dir)
		if err != nil {
			return nil, err
		}
		found = append(found, c.leaksOf(pkg)...)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// checker imports the packages of a module from their source.
type checker struct {
	fsys    fs.FS
	module  string
	fset    *token.FileSet
	checked map[string]*types.Package
}

// Import returns the declarations of a package.
func (c *checker) Import(imported string) (*types.Package, error) {
	if pkg := c.checked[imported]; pkg != nil {
		return pkg, nil
	}
	dir, ok := strings.CutPrefix(imported, c.module+"/")
	if !ok {
		pkg := types.NewPackage(imported, path.Base(imported))
		pkg.MarkComplete()
		c.checked[imported] = pkg
		return pkg, nil
	}
	files, err := c.parse(dir)
	if err != nil {
		return nil, err
	}
	// Names from other modules have no type. Each use is an error, which this check ignores.
	conf := types.Config{Importer: c, IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {}}
	pkg, _ := conf.Check(imported, c.fset, files, nil)
	c.checked[imported] = pkg
	return pkg, nil
}

// parse reads the files of a package that this system builds, without tests.
func (c *checker) parse(dir string) ([]*ast.File, error) {
	entries, err := fs.ReadDir(c.fsys, dir)
	if err != nil {
		return nil, err
	}
	ctx := build.Default
	ctx.JoinPath = path.Join
	ctx.OpenFile = func(name string) (io.ReadCloser, error) { return c.fsys.Open(name) }
	var files []*ast.File
	for _, e := range entries {
		if path.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if ok, err := ctx.MatchFile(dir, e.Name()); err != nil || !ok {
			continue
		}
		name := path.Join(dir, e.Name())
		source, err := fs.ReadFile(c.fsys, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(c.fset, name, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

func internalPath(p string) bool { return slices.Contains(strings.Split(p, "/"), "internal") }

// leaksOf are the sentences about a package's exported names.
func (c *checker) leaksOf(pkg *types.Package) []string {
	var found []string
	for _, name := range pkg.Scope().Names() {
		if !token.IsExported(name) {
			continue
		}
		object := pkg.Scope().Lookup(name)
		w := &mentions{module: c.module, home: pkg, seen: map[types.Type]bool{}}
		w.object(pkg.Name()+"."+name, object)
		for _, m := range w.found {
			file, _, _ := strings.Cut(c.fset.Position(object.Pos()).String(), ":")
			found = append(found, fmt.Sprintf("%s: %s mentions %s: code outside of the module cannot name that type", file, m.name, m.internal))
		}
	}
	return found
}

// mention is an internal type and the exported name that has it.
type mention struct{ name, internal string }

// mentions walks what an exported name shows to other packages.
type mentions struct {
	module string
	home   *types.Package
	seen   map[types.Type]bool
	found  []mention
}

func (w *mentions) object(name string, object types.Object) {
	declared, ok := object.(*types.TypeName)
	if !ok {
		w.walk(name, object.Type())
		return
	}
	if named, ok := declared.Type().(*types.Named); ok && !declared.IsAlias() {
		w.declaration(name, named)
		return
	}
	w.walk(name, types.Unalias(declared.Type()))
}

// declaration walks a type of the package itself: its underlying type, and all of its
// methods, also those of embedded types.
func (w *mentions) declaration(name string, named *types.Named) {
	if w.seen[named] {
		return
	}
	w.seen[named] = true
	w.parameters(name, named.TypeParams())
	w.walk(name, named.Underlying())
	methods := types.NewMethodSet(types.NewPointer(named))
	for i := range methods.Len() {
		if m := methods.At(i).Obj(); m.Exported() {
			w.walk(name+"."+m.Name(), m.Type())
		}
	}
}

func (w *mentions) walk(name string, t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		w.named(name, t)
	case *types.Map:
		w.walk(name, t.Key())
		w.walk(name, t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays and channels
		w.walk(name, t.Elem())
	case *types.Signature:
		w.parameters(name, t.TypeParams())
		w.variables(name, t.Params())
		w.variables(name, t.Results())
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				w.walk(name+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if m.Exported() {
				w.walk(name+"."+m.Name(), m.Type())
			}
		}
		for e := range t.EmbeddedTypes() {
			w.walk(name, e)
		}
	case *types.Union:
		for term := range t.Terms() {
			w.walk(name, term.Type())
		}
	}
}

func (w *mentions) named(name string, t *types.Named) {
	for arg := range t.TypeArgs().Types() {
		w.walk(name, arg)
	}
	object := t.Obj()
	switch pkg := object.Pkg(); {
	case pkg == nil: // error, comparable
	case internalPath(pkg.Path()) && under(pkg.Path(), w.module):
		w.found = append(w.found, mention{name: name, internal: strings.TrimPrefix(pkg.Path(), w.module+"/") + "." + object.Name()})
	case pkg == w.home && !object.Exported():
		// Its exported fields and methods show through it.
		w.declaration(name, t.Origin())
	}
}

func (w *mentions) parameters(name string, list *types.TypeParamList) {
	for p := range list.TypeParams() {
		w.walk(name, p.Constraint())
	}
}

func (w *mentions) variables(name string, tuple *types.Tuple) {
	for v := range tuple.Variables() {
		w.walk(name, v.Type())
	}
}
