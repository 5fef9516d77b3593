package attack_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Without its guard each attack succeeds, so its test fails. PODD_GUARDS_OFF is 1 for all
// guards, or the name of one.
func TestWithoutGuards(t *testing.T) {
	which := os.Getenv("PODD_GUARDS_OFF")
	if which == "" {
		t.Skip("builds the packages once for each guard: make guards")
	}
	all := guards()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if which == "1" || which == name {
			t.Run(name, func(t *testing.T) { switchOff(t, name, all[name]) })
		}
	}
}

// switchOff runs the tests of a guard's attacks without it, by package.
func switchOff(t *testing.T, name string, g guard) {
	overlay := writeOverlay(t, g)
	tests := map[string][]string{}
	for _, a := range attacks() {
		if a.guard == name && !slices.Contains(tests[a.pkg], a.test) {
			tests[a.pkg] = append(tests[a.pkg], a.test)
		}
	}
	for pkg, names := range tests {
		integration := strings.HasPrefix(pkg, "integrations/")
		for _, test := range names {
			cmd := exec.Command("go", "test", "-count=1", "-timeout=30s", "-run="+pattern(test), "./"+pkg)
			if integration {
				cmd.Args = slices.Replace(cmd.Args, 3, 4, "-timeout=5m", "-tags=integrations")
				// The programs that it builds have no guard, and nobody should use them afterwards.
				t.Cleanup(func() { _ = os.RemoveAll(filepath.Join(root, "bin", "integrations")) })
			}
			cmd.Dir, cmd.Env = root, append(os.Environ(), "GOFLAGS=-overlay="+overlay)
			out, err := cmd.CombinedOutput()
			text := string(out)
			switch {
			case integration && err != nil && !strings.Contains(text, "not ok "):
				t.Errorf("%s of %s does not run: %s", test, pkg, text)
			case strings.Contains(text, "[build failed]") || strings.Contains(text, "[setup failed]"):
				t.Errorf("it cannot be switched off: %s", text)
			case strings.Contains(text, "[no tests to run]"):
				t.Errorf("there is no %s in %s", test, pkg)
			case err == nil:
				t.Errorf("%s of %s passes without it", test, pkg)
			}
		}
	}
}

// pattern is the go command's pattern for one test, or one case of it.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// writeOverlay makes a file for go's -overlay that has the guard's edits.
func writeOverlay(t *testing.T, g guard) string {
	t.Helper()
	dir, changed := t.TempDir(), map[string]string{}
	for _, e := range g.off {
		if changed[e.file] == "" {
			changed[e.file] = read(t, e.file)
		}
		changed[e.file] = strings.Replace(changed[e.file], e.old, e.without, 1)
	}
	replace := map[string]string{}
	for file, text := range changed {
		original, err := filepath.Abs(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		replace[original] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(replace[original], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	encoded, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
