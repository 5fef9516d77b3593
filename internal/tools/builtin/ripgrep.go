package builtin

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"podd/pkg/lazy"
)

// Files are searched in batches. A batch of fewer than ripgrepWorthwhile is read at once
// instead of passed to rg, whose start costs as much.
const (
	maxBatchFiles     = 2000
	maxBatchBytes     = 120 << 10
	ripgrepWorthwhile = 100
	ripgrepPatience   = 2 * time.Second
)

// batch collects names of files and searches them together. rg, if it is installed, says
// which of them can have a match; every match shown is matched again, and read through
// the scope. So rg speeds a search up and decides nothing: without it, or if it fails,
// the result is the same, with one exception. A byte that is not UTF-8 is a character for
// RE2 and not for rg.
type batch struct {
	ctx    context.Context
	search *searcher
	hits   *hits
	// ripgrep is empty if it is not used; pattern is in its syntax.
	ripgrep, pattern string
	names            []string
	bytes            int
	// files counts all names, unread those that could not be read.
	files, unread int
}

func (s *searcher) newBatch(ctx context.Context, args searchArgs, h *hits) *batch {
	b := &batch{ctx: ctx, search: s, hits: h, ripgrep: s.Ripgrep}
	var ok bool
	if b.pattern, ok = forRipgrep(args.expression()); !ok {
		b.ripgrep = ""
	}
	return b
}

// ripgrepOnly matches what means something else to rg than to RE2: operators and classes
// within a class, an open repetition, the replacement character.
var ripgrepOnly = lazy.Regexp(`\[[^\]]*(\[[^:]|&&|--|~~)|\{,|\x{FFFD}`)

// forRipgrep is an RE2 expression in rg's syntax, which may match more and never less. ok
// is false if there is no simple conversion: \w and similar classes are ASCII in RE2 and
// Unicode in rg, so their opposites match less there; other escapes differ or do not
// exist.
func forRipgrep(pattern string) (translated string, ok bool) {
	if ripgrepOnly().MatchString(pattern) {
		return "", false
	}
	safe := "tfrv"
	if !strings.Contains(pattern, "[^") {
		safe += "wds"
	}
	var b bytes.Buffer
	for i := 0; i < len(pattern); i++ {
		b.WriteByte(pattern[i])
		if pattern[i] != '\\' || i+1 == len(pattern) {
			continue
		}
		i++
		switch c := pattern[i]; {
		case c == 'b' || c == 'B':
			b.Truncate(b.Len() - 1)
			b.WriteString(`(?-u:\` + string(c) + `)`)
		case strings.IndexByte(safe, c) >= 0, strings.IndexByte(`.*+?()[]{}|^$\/-"'`, c) >= 0:
			b.WriteByte(c)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// add searches the collected files when they are enough. It returns fs.SkipAll once
// counting is over.
func (b *batch) add(name string) error {
	b.names = append(b.names, name)
	b.bytes += len(name)
	if len(b.names) < maxBatchFiles && b.bytes < maxBatchBytes {
		return nil
	}
	return b.flush()
}

func (b *batch) flush() error {
	names := b.names
	b.files += len(names)
	b.names, b.bytes = b.names[:0], 0
	if b.ripgrep != "" && len(names) >= ripgrepWorthwhile {
		names = b.candidates(names)
	}
	for _, name := range names {
		if err := b.scan(name); err != nil {
			return err
		}
		if b.hits.all.stopped || b.hits.all.late() {
			return fs.SkipAll
		}
	}
	return nil
}

func (b *batch) scan(name string) error {
	file, _, err := b.search.FS.Open(name)
	if err != nil {
		// It is gone, or unreadable: continue with the others.
		b.unread++
		return nil
	}
	defer file.Close()
	return b.hits.scan(b.ctx, name, file)
}

// candidates are the names in which rg finds a match, in the same order; all of them if
// rg does not accept the expression.
func (b *batch) candidates(names []string) []string {
	args := []string{
		"--no-config", "--files-with-matches", "--null", "--no-messages", "--no-ignore", "--hidden",
		"--text", "--crlf", "--encoding=none", "--color=never", "-e", b.pattern, "--",
	}
	for _, name := range names {
		args = append(args, asArgument(name))
	}
	cmd := exec.CommandContext(b.ctx, b.ripgrep, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.search.Dir(), []string{}, ripgrepPatience
	found, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return nil
	}
	if err != nil {
		b.search.log.Debug("rg is not used for this search", "tool", "search", "error", err)
		b.ripgrep = ""
		return names
	}
	has := make(map[string]bool)
	for name := range strings.SplitSeq(string(found), "\x00") {
		has[name] = true
	}
	var left []string
	for _, name := range names {
		if has[asArgument(name)] {
			left = append(left, name)
		}
	}
	return left
}

// asArgument keeps a name from being read as an option or as standard input.
func asArgument(name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return "./" + name
}
