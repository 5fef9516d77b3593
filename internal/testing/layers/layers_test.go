package layers_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"podd/internal/testing/layers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// readPodd reads the tree of this test.
func readPodd(t *testing.T) *layers.Tree {
	t.Helper()
	tree, err := layers.Read(os.DirFS("../../.."), layers.Podd().Module)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestPoddKeepsItsLayers(t *testing.T) {
	for _, wrong := range readPodd(t).Check(layers.Podd()) {
		t.Error(wrong)
	}
}

func TestPoddKeepsItsBounds(t *testing.T) {
	for _, wrong := range readPodd(t).CheckBounds(layers.PoddBounds()) {
		t.Error(wrong)
	}
}

// A client uses only the protocol: linking it adds neither store nor model.
func TestClientsStayThin(t *testing.T) {
	tree := readPodd(t)
	for _, from := range []string{"pkg/client", "cmd/podctl"} {
		for _, never := range []string{"podd/pkg/store", "podd/pkg/llm/openai", "go.etcd.io/bbolt", "github.com/openai/openai-go"} {
			chain, err := tree.Chain(from, never)
			if err != nil {
				t.Fatal(err)
			}
			if chain != nil {
				t.Errorf("%s must do without %s: %s", from, never, strings.Join(chain, " imports "))
			}
		}
	}
}

// made is the table of the trees below.
func made() layers.Table {
	return layers.Table{
		Module:    "made",
		Ranks:     map[string]int{"low": 0, "lower": 0, "mid": 1, "mid/midtest": 2, "top": 3, "cmd/tool": 4, "rigs/drill": 2},
		Homes:     map[string][]string{"example.com/db": {"mid"}, "example.com/cli": {"cmd/"}},
		ForTests:  []string{"example.com/leak"},
		Machinery: []string{"rigs/"},
	}
}

func goFile(pkg string, imports ...string) *fstest.MapFile {
	source := "package " + pkg + "\n"
	for _, i := range imports {
		source += "import _ \"" + i + "\"\n"
	}
	return &fstest.MapFile{Data: []byte(source)}
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		tree fstest.MapFS
		// want has a part of each sentence, in order.
		want []string
	}{
		"all is well": {tree: fstest.MapFS{
			"low/low.go":             goFile("low", "fmt", "encoding/json"),
			"mid/mid.go":             goFile("mid", "made/low", "example.com/db", "example.com/db/sub"),
			"mid/midtest/suite.go":   goFile("midtest", "testing", "made/mid", "example.com/leak"),
			"top/top.go":             goFile("top", "made/mid", "made/low"),
			"cmd/tool/main.go":       goFile("main", "made/top", "example.com/cli"),
			"low/low_test.go":        goFile("low_test", "made/low", "made/top", "example.com/leak"),
			"nested/go.mod":          &fstest.MapFile{Data: []byte("module nested")},
			"nested/n.go":            goFile("nested", "example.com/anything"),
			"low/testdata/broken.go": goFile("broken", "example.com/anything"),
			".hidden/h.go":           goFile("hidden", "example.com/anything"),
		}},
		"upward": {
			tree: fstest.MapFS{"mid/mid.go": goFile("mid", "made/top")},
			want: []string{"mid/mid.go: mid has rank 1 and imports top of rank 3"},
		},
		"sideways": {
			tree: fstest.MapFS{"low/low.go": goFile("low", "made/lower")},
			want: []string{"low has rank 0 and imports lower of rank 0"},
		},
		"upward in a test of the package itself": {
			tree: fstest.MapFS{"mid/mid_test.go": goFile("mid", "made/top")},
			want: []string{"mid/mid_test.go: mid has rank 1 and imports top"},
		},
		"a file for another system": {
			tree: fstest.MapFS{"low/low_plan9.go": goFile("low", "made/mid")},
			want: []string{"low/low_plan9.go: low has rank 0"},
		},
		"no rank": {
			tree: fstest.MapFS{"novel/novel.go": goFile("novel", "made/low"), "top/top.go": goFile("top", "made/novel")},
			want: []string{"novel has no rank: give it one above all that it imports, in Ranks of internal/testing/layers/podd.go"},
		},
		"a package at the root": {
			tree: fstest.MapFS{"root.go": goFile("made")},
			want: []string{". has no rank"},
		},
		"another's module": {
			tree: fstest.MapFS{"top/top.go": goFile("top", "example.com/db")},
			want: []string{"top/top.go: top imports example.com/db, whose home is mid"},
		},
		"another's module in a test": {
			tree: fstest.MapFS{"top/top_test.go": goFile("top_test", "example.com/db")},
			want: []string{"top imports example.com/db, whose home is mid"},
		},
		"a module without a home": {
			tree: fstest.MapFS{"top/top.go": goFile("top", "example.com/dbx")},
			want: []string{"top imports example.com/dbx, which has no home: name the one package that may import it, in Homes"},
		},
		"a module for tests outside of tests": {
			tree: fstest.MapFS{"top/top.go": goFile("top", "example.com/leak")},
			want: []string{"top imports example.com/leak, which has no home"},
		},
		"test machinery in the product": {
			tree: fstest.MapFS{
				"low/low_test.go":     goFile("low_test", "made/rigs/drill", "made/mid/midtest"),
				"mid/mid_test.go":     goFile("mid_test", "made/mid/midtest"),
				"rigs/drill/drill.go": goFile("drill", "made/mid"),
				"cmd/tool/main.go":    goFile("main", "made/mid/midtest"),
				"top/top.go":          goFile("top", "made/rigs/drill"),
				"top/top_test.go":     goFile("top", "made/rigs/drill", "made/mid/midtest"),
			},
			want: []string{
				"cmd/tool/main.go: cmd/tool is part of the product and imports mid/midtest, which exists for tests",
				"top/top.go: top is part of the product and imports rigs/drill",
			},
		},
		"two at once, each once": {
			tree: fstest.MapFS{
				"low/a.go": goFile("low", "made/mid", "made/mid"),
				"top/a.go": goFile("top", "example.com/cli"),
			},
			want: []string{"low has rank 0 and imports mid", "top imports example.com/cli, whose home is cmd/"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree, err := layers.Read(tt.tree, "made")
			if err != nil {
				t.Fatal(err)
			}
			got := tree.Check(made())
			if !slices.EqualFunc(got, tt.want, strings.Contains) {
				t.Errorf("got %q, want sentences with %q", got, tt.want)
			}
		})
	}
}

// wide is a package of struct types and methods: its imports, then lines of Go.
func wide(imports, lines string) *fstest.MapFile {
	source := "package wide\n"
	for i := range strings.FieldsSeq(imports) {
		source += "import _ \"" + i + "\"\n"
	}
	return &fstest.MapFile{Data: []byte(source + lines)}
}

func TestCheckBounds(t *testing.T) {
	bounds := layers.Bounds{Methods: 2, Fields: 3, Imports: map[string]int{"top": 1}, Depth: map[string]int{"top": 3}}
	over := func(what string, ceiling int) layers.Bounds {
		b := bounds
		b.Over = map[string]int{what: ceiling}
		return b
	}
	three := "func (T) A() {}\nfunc (t *T) B() {}\nfunc (*T) C() {}\n"
	tests := map[string]struct {
		tree   fstest.MapFS
		bounds layers.Bounds
		// want has a part of each sentence, in order.
		want []string
	}{
		"all is well": {bounds: bounds, tree: fstest.MapFS{
			"low/low.go":       wide("", "type T struct { A, b int; C string }\nfunc (T) A() {}\nfunc (*T) B() {}\nfunc C(T) {}\nfunc (U) C() {}"),
			"low/other.go":     wide("", "type U struct { T; V }\ntype V []int"),
			"low/low_test.go":  wide("", "type W struct { a, b, c, d int }\n"+three),
			"low/made.go":      &fstest.MapFile{Data: []byte("// Code generated by a tool. DO NOT EDIT.\n\npackage low\n\ntype W struct { a, b, c, d int }\n" + three)},
			"mid/mid.go":       wide("made/low", ""),
			"top/top.go":       wide("made/mid fmt example.com/a", ""),
			"top/top_test.go":  wide("made/low", ""),
			"mid/mid_test.go":  wide("made/top", ""),
			"other/other.go":   wide("made/top made/low", ""),
			"top/top_plan9.go": wide("made/mid", ""),
		}},
		"methods in many forms": {
			bounds: bounds, tree: fstest.MapFS{"low/a.go": wide("", three), "low/b.go": wide("", "func (g G[K]) A() {}\nfunc (g *G[K]) B() {}\nfunc (G[_]) C() {}\nfunc (M[K, V]) A() {}")},
			want: []string{"methods of low.G: 3, more than 2: split", "methods of low.T: 3, more than 2: split"},
		},
		"a method that each system has": {bounds: bounds, tree: fstest.MapFS{
			"low/a_linux.go": wide("", "func (T) A() {}\nfunc (T) B() {}"), "low/a_other.go": wide("", "func (T) A() {}\nfunc (T) B() {}"),
		}},
		"types of one name in two packages": {bounds: bounds, tree: fstest.MapFS{
			"low/a.go": wide("", "func (T) A() {}\nfunc (T) B() {}"), "mid/a.go": wide("", "func (T) C() {}\nfunc (T) D() {}"),
		}},
		"fields": {
			bounds: bounds, tree: fstest.MapFS{"low/a.go": wide("", "type T struct { a, b int; *U; c struct { d, e, f, g int } }\nfunc F() { type U struct { a, b, c, d int } }")},
			want: []string{"fields of low.T: 4, more than 3", "fields of low.U: 4, more than 3"},
		},
		"imports": {
			bounds: bounds, tree: fstest.MapFS{"top/top.go": wide("made/mid", ""), "top/b.go": wide("made/low made/mid", "")},
			want: []string{`imports of top: 2, more than 1: it imports ["low" "mid"]`},
		},
		"depth": {
			bounds: bounds, tree: fstest.MapFS{
				"top/top.go": wide("made/mid", ""), "mid/mid.go": wide("made/low made/deep", ""), "deep/deep.go": wide("made/low", ""), "low/low.go": wide("", ""),
			},
			want: []string{`import depth of top: 4, more than 3: shorten ["top" "mid" "deep" "low"]`},
		},
		"over for now":         {bounds: over("methods of low.T", 3), tree: fstest.MapFS{"low/a.go": wide("", three)}},
		"further over for now": {bounds: over("methods of low.T", 3), tree: fstest.MapFS{"low/a.go": wide("", three+"func (T) D() {}")}, want: []string{"methods of low.T: 4, more than 3"}},
		"no longer over":       {bounds: over("fields of low.T", 9), tree: fstest.MapFS{"low/a.go": wide("", "type T struct { a, b, c int }")}, want: []string{"fields of low.T: within the bound by now: remove the entry from Over in internal/testing/layers/podd.go"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree, err := layers.Read(tt.tree, "made")
			if err != nil {
				t.Fatal(err)
			}
			got := tree.CheckBounds(tt.bounds)
			if !slices.EqualFunc(got, tt.want, strings.Contains) {
				t.Errorf("got %q, want sentences with %q", got, tt.want)
			}
		})
	}
}

func TestReadReportsAFileThatDoesNotParse(t *testing.T) {
	_, err := layers.Read(fstest.MapFS{"low/low.go": {Data: []byte("not Go")}}, "made")
	if err == nil || !strings.Contains(err.Error(), "low/low.go") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

func TestChain(t *testing.T) {
	tree, err := layers.Read(fstest.MapFS{
		"low/low.go":      goFile("low", "example.com/db/v2"),
		"mid/mid.go":      goFile("mid", "made/low"),
		"top/top.go":      goFile("top", "made/mid", "fmt"),
		"top/top_test.go": goFile("top_test", "example.com/leak"),
	}, "made")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		from, target string
		want         []string
	}{
		{"top", "example.com/db", []string{"top", "mid", "low", "example.com/db/v2"}},
		{"top", "made/low", []string{"top", "mid", "made/low"}},
		{"top", "example.com/d", nil},
		{"top", "example.com/leak", nil},
		{"low", "made/mid", nil},
	}
	for _, tt := range tests {
		got, err := tree.Chain(tt.from, tt.target)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("from %s to %s: got %q, %v, want %q", tt.from, tt.target, got, err, tt.want)
		}
	}
	if _, err := tree.Chain("gone", "made/low"); err == nil {
		t.Error("a package that is not there has a chain")
	}
}
