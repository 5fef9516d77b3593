package attack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// root is the module's directory.
const root = "../../.."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every attack has a class, a guard, and an existing test; every guard stops an attack.
func TestTableIsTrue(t *testing.T) {
	all, used, seen := guards(), map[string]bool{}, map[string]bool{}
	class := regexp.MustCompile(`^CWE-\d+(, CVE-\d{4}-\d+)*$`)
	for _, a := range attacks() {
		used[a.guard] = true
		if _, ok := all[a.guard]; !ok {
			t.Errorf("%s: there is no guard %q", a.what, a.guard)
		}
		if !class.MatchString(a.class) || seen[a.what] {
			t.Errorf("%s: class %q, or the attack is listed twice", a.what, a.class)
		}
		seen[a.what] = true
		if !hasTest(t, a.pkg, a.test) {
			t.Errorf("%s: there is no test %s in %s", a.what, a.test, a.pkg)
		}
	}
	for name := range all {
		if !used[name] {
			t.Errorf("guard %q stops nothing", name)
		}
	}
	if len(seen) < 150 {
		t.Errorf("there are %d attacks", len(seen))
	}
}

// hasTest looks for a test and the names of the cases after its slashes.
func hasTest(t *testing.T, pkg, test string) bool {
	t.Helper()
	test, cases, _ := strings.Cut(test, "/")
	var found bool
	var all strings.Builder
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
		found = found || strings.Contains(string(text), "func "+test+"(t *testing.T)")
	}
	for part := range strings.SplitSeq(cases, "/") {
		// The modes of the sandbox are constants.
		found = found && (part == "" || part == "bwrap" || part == "landlock" || strings.Contains(all.String(), strconv.Quote(part)))
	}
	return found
}

// Each guard is where the table says, once. Moving one means changing the table too.
func TestGuardsAreInPlace(t *testing.T) {
	for name, g := range guards() {
		for _, e := range g.off {
			if n := strings.Count(read(t, e.file), e.old); n != 1 {
				t.Errorf("guard %q: %s has %d times:\n%s", name, e.file, n, e.old)
			}
		}
	}
}

// README.md shows this table.
func TestDocumented(t *testing.T) {
	want := strings.Builder{}
	want.WriteString(`# What podd was attacked with

[Security](../../../docs/security.md) says how podd defends itself. Each test passes with its guard and fails without it: ` + "`make guards`" + `
checks that. Attacks that two guards stop, each by itself, are not listed here: see TestAttacks in ` + "`internal/guard/sandbox`" + `
for more commands and TestAttacks in ` + "`internal/guard/policy`" + ` for more shell lines.

| attack | class | guard | test |
|---|---|---|---|
`)
	for _, a := range attacks() {
		fmt.Fprintf(&want, "| %s | %s | %s | `%s` %s |\n", a.what, a.class, guards()[a.guard].is, a.pkg, a.test)
	}
	const path = "README.md"
	if got, err := os.ReadFile(path); err == nil && string(got) == want.String() {
		return
	}
	if os.Getenv("PODD_WRITE_TABLE") != "" {
		if err := os.WriteFile(path, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("%s does not show the table: write it with PODD_WRITE_TABLE=1 go test ./internal/testing/attack", path)
}
