package spec_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"podd/internal/spec"
)

const root = "../.."

// docs/spec.md has the invariants of the checker and no other, and the code and the tests that it names exist: a package in
// backquotes, then names of its tests.
func TestPageIsTrue(t *testing.T) {

	text, err := os.ReadFile(filepath.Join(root, "docs/spec.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	rows := regexp.MustCompile(`(?m)^\| (I\d+) \| (.+?) \| (.+) \| (.+) \|$`).FindAllStringSubmatch(page, -1)
	all := spec.Invariants()
	if len(rows) != len(all) {
		t.Errorf("the page has %d invariants, the checker %d", len(rows), len(all))
	}
	for i, row := range rows {
		if i < len(all) && (row[1] != all[i].ID || row[2] != all[i].Says) {
			t.Errorf("the page says %s %q, the checker %s %q", row[1], row[2], all[i].ID, all[i].Says)
		}
		if code := strings.Trim(row[3], "`"); !exists(filepath.Join(root, code)) || !strings.HasSuffix(code, ".go") {
			t.Errorf("%s is kept by %s, which does not exist", row[1], code)
		}
		for _, m := range broken {
			if test := regexp.MustCompile(`^(\S+) \^(\w+)\$.*`).ReplaceAllString(m.test, "`$1` $2"); m.is == row[1] && row[4] != test {
				t.Errorf("%s names %s, and %s is seen to fail", row[1], row[4], test)
			}
		}
		if !strings.Contains(row[4], " Test") {
			t.Errorf("%s names no test", row[1])
		}
	}
	for _, m := range mistakes {
		if !strings.Contains(page, m.is) {
			t.Errorf("the page does not say that the simulation finds: %s", m.is)
		}
	}
	dir, named := "", 0
	for _, f := range regexp.MustCompile("`((?:pkg|internal|cmd)/[a-z/]+)`|\\b(Test[A-Z][A-Za-z0-9]*)").FindAllStringSubmatch(page, -1) {
		if f[1] != "" {
			dir = f[1]
			continue
		}
		named++
		if !hasTest(t, filepath.Join(root, dir), f[2]) {
			t.Errorf("%s has no %s", dir, f[2])
		}
	}
	if named < 90 {
		t.Errorf("only %d tests were found on the page", named)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
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
