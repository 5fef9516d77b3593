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
		Ranks:     map[string]int{"low": 0, "lower": 0, "mid": 1, "mid/midtest": 2, "top": 3, "cmd/tool": 4, "rigs/drill": 2, "internal/wing": 0, "pkg/core": 1},
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
		"the core imports what is internal": {
			tree: fstest.MapFS{"pkg/core/c.go": goFile("core", "made/internal/wing"), "internal/wing/w.go": goFile("wing")},
			want: []string{"pkg/core imports internal/wing: the core below pkg/ imports nothing of internal/"},
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
