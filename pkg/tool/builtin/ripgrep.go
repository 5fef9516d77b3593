package builtin

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// Files are searched in batches. A batch of fewer than ripgrepWorthwhile is read
// at once rather than given to rg, whose start costs as much.
const (
	maxBatchFiles     = 2000
	maxBatchBytes     = 120 << 10
	ripgrepWorthwhile = 100
	ripgrepPatience   = 2 * time.Second
)

// batch collects names of files and searches them together. rg, where it is there,
// says which of them can have a match; what is shown is always read through the
// scope. So rg speeds a search up and decides nothing: without it, or where it
// fails, the result is the same.
type batch struct {
	ctx     context.Context
	search  *searcher
	hits    *hits
	pattern string
	ripgrep string
	names   []string
	bytes   int
	// files counts all names, unread those that could not be read.
	files, unread int
}

// perFile marks expressions that rg matches against the whole file.
var perFile = regexp.MustCompile(`\\[AzQ]`)

func (s *searcher) newBatch(ctx context.Context, args searchArgs, h *hits) *batch {
	b := &batch{ctx: ctx, search: s, hits: h, pattern: args.expression(), ripgrep: s.Ripgrep}
	if perFile.MatchString(b.pattern) {
		b.ripgrep = ""
	}
	return b
}

// add searches what was collected when that is enough. It returns fs.SkipAll once
// the limit of matches is reached.
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
		if b.hits.more {
			return fs.SkipAll
		}
	}
	return nil
}

func (b *batch) scan(name string) error {
	file, _, err := b.search.FS.Open(name)
	if err != nil {
		// It is gone, or not to be read: the others still are.
		b.unread++
		return nil
	}
	defer file.Close()
	return b.hits.scan(b.ctx, name, file)
}

// candidates is those of names that rg finds a match in, in the same order; all of
// them when rg does not take the expression.
func (b *batch) candidates(names []string) []string {
	args := []string{
		"--no-config", "--files-with-matches", "--null", "--no-messages", "--no-ignore", "--hidden",
		"--text", "--crlf", "--encoding=none", "--color=never",
	}
	if !strings.ContainsFunc(b.pattern, func(r rune) bool { return r > 0x7f }) {
		// As in RE2, \w and its kin are ASCII.
		args = append(args, "--no-unicode")
	}
	args = append(args, "-e", b.pattern, "--")
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

// asArgument keeps a name from being taken for an option or for standard input.
func asArgument(name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return "./" + name
}
