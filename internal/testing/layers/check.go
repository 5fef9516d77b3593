package layers

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// tableFile is the file to edit when the table lacks a package.
const tableFile = "internal/testing/layers/podd.go"

// Check returns one sentence for each import that the table does not allow, for each
// package without a rank, and for each third-party module without a home, in the order of
// packages. It is empty when all is well.
func (t *Tree) Check(table Table) []string {
	var found []string
	for _, dir := range slices.Sorted(maps.Keys(t.packages)) {
		rank, ok := table.Ranks[dir]
		if !ok {
			found = append(found, fmt.Sprintf("%s has no rank: give it one above all that it imports, in Ranks of %s", dir, tableFile))
			continue
		}
		for _, u := range t.packages[dir] {
			if wrong := t.checkUse(table, dir, rank, u); wrong != "" && !slices.Contains(found, wrong) {
				found = append(found, wrong)
			}
		}
	}
	return found
}

// checkUse says what is wrong with one import; empty without a fault.
func (t *Tree) checkUse(table Table, dir string, rank int, u use) string {
	if imported, ok := t.local(u.path); ok {
		if !u.test && !table.machinery(dir) && table.machinery(imported) {
			return fmt.Sprintf("%s: %s is part of the product and imports %s, which exists for tests: only tests may",
				u.file, dir, imported)
		}
		if !u.test && strings.HasPrefix(dir, "pkg/") && strings.HasPrefix(imported, "internal/") && !forTests(dir) {
			return fmt.Sprintf("%s: %s imports %s: the core below pkg/ imports nothing of internal/", u.file, dir, imported)
		}
		above, known := table.Ranks[imported]
		if u.outside || !known || above < rank {
			// A package without a rank is reported once, at its own place.
			return ""
		}
		return fmt.Sprintf("%s: %s has rank %d and imports %s of rank %d: a package imports only lower ranks",
			u.file, dir, rank, imported, above)
	}
	if standard(u.path) {
		return ""
	}
	if (u.test || forTests(dir)) && slices.ContainsFunc(table.ForTests, func(m string) bool { return under(u.path, m) }) {
		return ""
	}
	for module, homes := range table.Homes {
		if under(u.path, module) {
			if at(dir, homes) {
				return ""
			}
			return fmt.Sprintf("%s: %s imports %s, whose home is %s: go through its home",
				u.file, dir, module, strings.Join(homes, ", "))
		}
	}
	return fmt.Sprintf("%s: %s imports %s, which has no home: name the one package that may import it, in Homes of %s",
		u.file, dir, u.path, tableFile)
}

// standard says whether an import path is of the standard library: the first
// element of any other has a dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// forTests says whether a package exists for tests, by its name: storetest,
// testhost.
func forTests(dir string) bool {
	base := path.Base(dir)
	return strings.HasPrefix(base, "test") || strings.HasSuffix(base, "test")
}

// machinery says whether a package exists for tests and is not part of the product.
func (table Table) machinery(dir string) bool {
	return forTests(dir) || at(dir, table.Machinery)
}

func at(dir string, homes []string) bool {
	return slices.ContainsFunc(homes, func(home string) bool {
		return dir == home || strings.HasSuffix(home, "/") && strings.HasPrefix(dir, home)
	})
}
