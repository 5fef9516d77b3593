package pages_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// root is the module's directory.
const root = "../../.."

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`^#{1,6} +(.+)$`)
	code    = regexp.MustCompile("`+[^`]*`+")
)

// page is a Markdown file.
type page struct {
	links []string
	// anchors are the fragments of its headings, as GitHub makes them.
	anchors map[string]bool
}

func TestLinksLeadSomewhere(t *testing.T) {
	pages := readPages(t)
	if len(pages) < 50 {
		t.Fatalf("found only %d pages", len(pages))
	}
	for path, p := range pages {
		for _, l := range p.links {
			if err := follow(pages, path, l); err != nil {
				t.Errorf("%s: link %s: %v", path, l, err)
			}
		}
	}
}

func TestBrokenLinksAreFound(t *testing.T) {
	a := parse("# The `first` part\n\n[b](b.md#two--three), [gone](c.md)\n```\n# no heading\n[no](link.md)\n```\n## The first part\n`[no](code.md)`\n")
	if want := []string{"b.md#two--three", "c.md"}; fmt.Sprint(a.links) != fmt.Sprint(want) {
		t.Errorf("links %q, want %q", a.links, want)
	}
	pages := map[string]page{"a.md": a, "b.md": parse("# Two + three\n")}
	for link, ok := range map[string]bool{
		"b.md#two--three": true, "#the-first-part": true, "#the-first-part-1": true, "https://example.com/x": true,
		"b.md#two": false, "c.md": false, "#no-heading": false,
	} {
		if err := follow(pages, "a.md", link); (err == nil) != ok {
			t.Errorf("link %s: %v", link, err)
		}
	}
}

// A decision says what was decided, why, and what it costs.
func TestDecisionsAreShort(t *testing.T) {
	const most = 200
	for _, path := range decisions(t) {
		if n := len(strings.Fields(read(t, path))); n > most {
			t.Errorf("%s has %d words; write at most %d", path, n, most)
		}
	}
}

func TestEachDecisionIsListed(t *testing.T) {
	list := read(t, filepath.Join(root, "docs/decisions/README.md"))
	for _, path := range decisions(t) {
		if name := filepath.Base(path); !strings.Contains(list, "("+name+")") {
			t.Errorf("docs/decisions/README.md does not list %s", name)
		}
	}
}

func decisions(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "docs/decisions/[0-9]*.md"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("found no decisions: %v", err)
	}
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readPages reads all Markdown files of the module, by path.
func readPages(t *testing.T) map[string]page {
	t.Helper()
	pages := map[string]page{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && (name == "node_modules" || name == "testdata" || name == "bin" || strings.HasPrefix(name, ".") && path != root):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".md"):
			pages[path] = parse(read(t, path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// parse reads links and headings, except in code.
func parse(text string) page {
	p, fenced, seen := page{anchors: map[string]bool{}}, false, map[string]int{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if h := heading.FindStringSubmatch(line); h != nil {
			anchor := slug(h[1])
			if n := seen[anchor]; n > 0 {
				p.anchors[fmt.Sprintf("%s-%d", anchor, n)] = true
			}
			p.anchors[anchor] = true
			seen[anchor]++
		}
		for _, l := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
			p.links = append(p.links, l[1])
		}
	}
	return p
}

// slug is the fragment of a heading: lower case, blanks as hyphens, no punctuation.
func slug(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// follow checks one link of the page at from.
func follow(pages map[string]page, from, link string) error {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return nil
	}
	target, anchor, _ := strings.Cut(link, "#")
	path := from
	if target != "" {
		path = filepath.Join(filepath.Dir(from), target)
	}
	p, known := pages[path]
	if !known {
		if _, err := os.Stat(path); err != nil {
			return err
		}
		if strings.HasSuffix(path, ".md") || anchor == "" {
			return nil
		}
	}
	if anchor != "" && !p.anchors[anchor] {
		return fmt.Errorf("%s has no heading for it", path)
	}
	return nil
}
