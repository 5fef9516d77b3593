package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const root = "../../.."

// Each figure of a page stands beside it, and its command exists.
func TestFiguresOfPages(t *testing.T) {
	figures, err := all(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(figures) == 0 {
		t.Error("there are no figures")
	}
	for _, f := range figures {
		if wrong := missing(t, f.command); wrong != "" {
			t.Errorf("%s:%d: %s: %s", f.page, f.line, f.command, wrong)
		}
	}
}

var (
	target = regexp.MustCompile(`^make ([a-z-]+)`)
	names  = regexp.MustCompile(`-(?:run|bench) '?\^?((?:Test|Benchmark)?\w+)`)
	dir    = regexp.MustCompile(` (\./[\w/]+)`)
)

// missing says what a command names that does not exist: a target, a package, or a test.
func missing(t *testing.T, command string) string {
	if m := target.FindStringSubmatch(command); m != nil {
		text, err := os.ReadFile(filepath.Join(root, "Makefile"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\n"+m[1]+": ") {
			return "no such target"
		}
		return ""
	}
	m := dir.FindStringSubmatch(command)
	if m == nil || !strings.Contains(command, "go test ") && !strings.Contains(command, "go run ") {
		return "is not make, go test or go run"
	}
	files, _ := filepath.Glob(filepath.Join(root, m[1], "*.go"))
	text := ""
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
	}
	if text == "" {
		return "no such package"
	}
	for _, name := range names.FindAllStringSubmatch(command, -1) {
		if !strings.Contains(command, "go test ") {
			break
		}
		if !regexp.MustCompile(`func (Test|Benchmark)?\w*` + name[1] + `\w*\(`).MatchString(text) {
			return "no test " + name[1]
		}
	}
	return ""
}

func TestMissingCommandsAreFound(t *testing.T) {
	for command, want := range map[string]string{
		"make figures": "", "make nothing": "no such target", "true": "is not make, go test or go run",
		"go test -v -run '^TestMissingCommandsAreFound$' ./internal/testing/figures": "",
		"go test -run TestOfNothing ./internal/testing/figures":                      "no test TestOfNothing",
		"go run ./internal/testing/figurines":                                        "no such package",
	} {
		if got := missing(t, command); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestWorseThanThePage(t *testing.T) {
	for text, output := range map[string]string{
		`49 | at most | 1 s | c | (\d+) ms`:          "12 ms, then 50 ms",
		`49 | at most +10 % | 1 s | c | (\d+) ms`:    "54 ms",
		`1,000 | at least | 1 s | c | ([\d,]+) a`:    "999 a",
		`1,000 | at least -10 % | 1 s | c | (\d+) a`: "899 a",
		`3 | exactly | 1 s | c | n=(\d+|none)`:       "n=2",
		`4 | exactly | 1 s | c | m=(\d+)`:            "nothing",
	} {
		f, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if f.wrong(output) == "" {
			t.Errorf("%s: %q is not worse", text, output)
		}
		if better := strings.NewReplacer("50", "49", "54", "53", "999", "1,000", "899", "900", "n=2", "n=3", "nothing", "m=4").Replace(output); f.wrong(better) != "" {
			t.Errorf("%s: %q is worse: %s", text, better, f.wrong(better))
		}
	}
}

func TestBrokenFiguresAreRefused(t *testing.T) {
	for _, c := range []string{
		`49 | at most | 1 s | c`, `x | at most | 1 s | c | (\d)`, `4 | about | 1 s | c | (\d)`, `4 | at most | soon | c | (\d)`, `4 | at most | 1 s | c | \d`,
	} {
		if _, err := parse(c); err == nil {
			t.Errorf("%s is accepted", c)
		}
	}
	page := t.TempDir()
	for text, ok := range map[string]bool{"It takes 49 ms.": true, "It takes 149 ms.": false, "It takes 49.5 ms.": false, "It takes\n49, they\nsay": true, "It takes 49.\n": false} {
		if err := os.WriteFile(filepath.Join(page, "a.md"), []byte(text+"\n<!-- figure: 49 | at most | 1 s | c | (\\d+) -->\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := all(page); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
