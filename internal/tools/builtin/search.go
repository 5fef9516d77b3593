package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os/exec"
	"path"
	"regexp"
	"strings"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// Search sets up the search tool. A zero field means its default.
type Search struct {
	// MaxMatches is 100 by default.
	MaxMatches int `toml:"max_matches" range:"1 1000000"`
	// Context is the number of lines shown around a match, 2 by default; negative for none.
	Context int `toml:"context" range:"0 1000"`
	// MaxLineBytes is 500 by default.
	MaxLineBytes int `toml:"max_line_bytes" range:"40 1048576"`
	// Ripgrep is the path of rg; by default it is looked up in PATH, and "-" means not to
	// use it.
	Ripgrep string
}

func (s Search) withDefaults() Search {
	if s.MaxMatches <= 0 {
		s.MaxMatches = 100
	}
	if s.Context == 0 {
		s.Context = 2
	}
	s.Context = max(s.Context, 0)
	if s.MaxLineBytes <= 0 {
		s.MaxLineBytes = 500
	}
	switch s.Ripgrep {
	case "-":
		s.Ripgrep = ""
	case "":
		s.Ripgrep, _ = exec.LookPath("rg")
	}
	return s
}

type searchArgs struct {
	Pattern    string `json:"pattern" jsonschema:"RE2 regular expression, matched line by line"`
	Path       string `json:"path,omitempty" jsonschema:"file or directory"`
	Glob       string `json:"glob,omitempty" jsonschema:"files to search, such as *.go"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
}

func (a *searchArgs) check() error {
	if a.Pattern == "" {
		return errors.New("pattern is empty: write a regular expression")
	}
	_, err := a.compile()
	return err
}

func (a *searchArgs) compile() (*regexp.Regexp, error) {
	re, err := regexp.Compile(a.expression())
	if err != nil {
		return nil, fmt.Errorf("pattern is not a valid RE2 regular expression: %w (escape literal .*+?()[]{}|^$ with a backslash; look-around is not supported)", err)
	}
	return re, nil
}

func (a *searchArgs) expression() string {
	if a.IgnoreCase {
		return "(?i)" + a.Pattern
	}
	return a.Pattern
}

type searcher struct {
	*files
	Search
	spool *spool.Folder
	limit tool.Limit
	log   *slog.Logger
}

func newSearch(f *files, c Config) tool.Tool {
	s := &searcher{files: f, Search: c.Search.withDefaults(), spool: c.Spool, limit: c.Limits.For("search"), log: c.Logger}
	return tool.New("search", fmt.Sprintf("Search the text of files, except those that git ignores. Over %d matches are counted per file, and the full list is kept in a file.", s.MaxMatches),
		s.run, tool.Validate((*searchArgs).check),
		tool.Repeats[searchArgs](), tool.Touches(func(a searchArgs) tool.Access {
			a.Path = f.alike(a.Path)
			return f.reading(a.where()...)
		}))
}

func (s *searcher) run(ctx context.Context, call *tool.Invocation, args searchArgs) (tool.Output, error) {
	re, err := args.compile()
	if err != nil {
		return failed(ctx, "search", err)
	}
	if args.Path, err = s.Alike(orWorkspace(args.Path)); err != nil {
		return failed(ctx, "search", err)
	}
	bound := *s
	s, bound.files = &bound, s.bound(call)
	h := &hits{search: s.Search, re: re, all: newManyHits(s.spool, s.limit)}
	batch := s.newBatch(ctx, args, h)
	if args.Glob == "" {
		err = s.Walk(ctx, args.Path, scopefs.WalkOptions{}, func(e scopefs.Entry) error {
			if !e.Type.IsRegular() {
				return nil
			}
			return batch.add(e.Path)
		})
	} else {
		err = s.eachOf(ctx, args, batch.add)
	}
	if err == nil {
		err = batch.flush()
	}
	if err != nil && !errors.Is(err, fs.SkipAll) {
		h.all.discard()
		return failed(ctx, "search", err)
	}
	return batch.output(args), nil
}

// maxGlobbed bounds the files that a glob of the search can select.
const maxGlobbed = 200_000

// pattern is the glob of the files to search. A glob without a slash matches only the
// name, one with a slash the path below a.Path.
func (a *searchArgs) pattern() string {
	pattern := a.Glob
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	if a.Path != "" {
		pattern = path.Join(escapeGlob(a.Path), pattern)
	}
	return pattern
}

// where is where a search looks: what it names, and the directory that its glob names.
func (a *searchArgs) where() []string {
	if a.Glob == "" {
		return []string{a.Path}
	}
	base := scopefs.GlobBase(a.pattern())
	if path.Clean(orWorkspace(a.Path)) == base {
		return []string{base}
	}
	return []string{a.Path, base}
}

// eachOf calls add for the files that the glob selects.
func (s *searcher) eachOf(ctx context.Context, args searchArgs, add func(string) error) error {
	paths, _, err := s.FS.Glob(ctx, args.pattern(), maxGlobbed)
	if err != nil {
		return err
	}
	for _, name := range paths {
		if err := add(name); err != nil {
			return err
		}
	}
	return nil
}

// escapeGlob makes a path literal inside a pattern.
func escapeGlob(name string) string {
	return regexp.MustCompile(`[*?\[\]{}\\]`).ReplaceAllString(name, `\$0`)
}

// output is what was found.
func (b *batch) output(args searchArgs) tool.Output {
	h := b.hits
	where := b.search.show(orWorkspace(args.Path))
	if args.Glob != "" {
		where += " (" + tool.Shorten(args.Glob, 40) + ")"
	}
	result := h.all.summary()
	if h.all.matches == 0 {
		result = "no match in " + tool.Plural(int64(b.files), "file")
	}
	if b.unread > 0 {
		result += fmt.Sprintf("; %s could not be read", tool.Plural(int64(b.unread), "file"))
	}
	out := tool.Output{
		Summary: tool.Bound(fmt.Sprintf("search: \"%s\" in %s, %s", tool.Shorten(args.Pattern, 50), where, result)),
		Content: h.text.String(), Kind: item.OutputSearch,
	}
	if h.all.begun {
		out.Content, out.Cut = h.all.content()
	}
	if h.all.lost != nil {
		b.search.log.Warn("all matches of a search not kept", "tool", "search", "bytes", h.all.bytes, "error", h.all.lost)
	}
	return out
}
