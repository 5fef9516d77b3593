package crash

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tests that docs/reliability.md names exist: a package in backquotes, then names of
// its tests.
func TestReliabilityPageIsTrue(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("`((?:pkg|internal|cmd)/[a-z/]+)`|\\b(Test[A-Z][A-Za-z0-9]*)").FindAllStringSubmatch(string(page), -1)
	dir, named := "", 0
	for _, f := range found {
		if f[1] != "" {
			dir = f[1]
			continue
		}
		named++
		if !hasTest(t, filepath.Join("../../..", dir), f[2]) {
			t.Errorf("%s has no %s", dir, f[2])
		}
	}
	if named < 50 {
		t.Errorf("only %d tests were found on the page", named)
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
