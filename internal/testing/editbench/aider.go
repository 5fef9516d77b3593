package main

import (
	"context"
	"errors"
	"os/exec"
	"path"
	"regexp"
	"strings"
)

var (
	aiderBlock    = regexp.MustCompile("(?ms)^(\\S[^\n]*)\n(?:````?|<\\w+>)[^\n]*\n<<<<<<< SEARCH\n(.*?)^=======\n(.*?)^>>>>>>> REPLACE")
	aiderApplied  = regexp.MustCompile(`(?ms)^> Applied edit to .*?^> Commit ([0-9a-f]{7}) `)
	aiderCommit   = regexp.MustCompile(`(?m)^(> Committing [^\n]* before applying edits\.[^\n]*\n)?> (?:Commit|HEAD is:) ([0-9a-f]{7}) `)
	aiderTrailing = regexp.MustCompile(`(?m)[ \t]+$`)
)

// aider reads the chat history of aider: answers with search/replace blocks, each
// followed by its outcome. The files come from the commits that the chat names, in the
// repository that it is about.
type aider struct {
	repo  string
	calls []call
	// head is the last commit that the chat named.
	head string
}

func readAider(ctx context.Context, chat, repo string) ([]call, error) {
	a := &aider{repo: repo}
	// Each answer ends with a line that counts its tokens.
	parts := strings.Split(chat, "\n> Tokens: ")
	for i, part := range parts[:len(parts)-1] {
		if commits := aiderCommit.FindAllStringSubmatch(part, -1); len(commits) > 0 {
			a.head = commits[len(commits)-1][2]
		}
		blocks := aiderBlocks(part)
		if len(blocks) == 0 {
			continue
		}
		var err error
		switch after := parts[i+1]; {
		case strings.Contains(after, "\n> ## SearchReplace"):
			err = a.refused(ctx, blocks, after, aiderState(parts[i+1:], a.head))
		default:
			if m := aiderApplied.FindStringSubmatch(after); m != nil {
				err = a.accepted(ctx, blocks, m[1])
			}
		}
		if err != nil {
			return nil, err
		}
	}
	retries(a.calls)
	return a.calls, nil
}

// aiderBlocks are the blocks of an answer: file, old and new text. A truncated answer has
// none.
func aiderBlocks(part string) [][]string {
	blocks := aiderBlock.FindAllStringSubmatch(part, -1)
	for _, b := range blocks {
		if strings.Contains(b[2], "<<<<<<< SEARCH\n") {
			return nil
		}
	}
	return blocks
}

// aiderState is the commit with the files before the next commit that the chat names:
// before an edit, aider commits the changes of the person.
func aiderState(parts []string, head string) string {
	for _, part := range parts[:min(3, len(parts))] {
		if m := aiderCommit.FindStringSubmatch(part); m != nil {
			if m[1] != "" {
				return m[2]
			}
			return m[2] + "^"
		}
	}
	return head
}

// accepted are the blocks of an answer that a commit contains, in order. If a block does
// not occur unchanged, aider forgave a difference, and the commit has the edit that aider
// made.
func (a *aider) accepted(ctx context.Context, blocks [][]string, commit string) error {
	now, inexact := make(map[string]string), make(map[string][]call)
	for _, b := range blocks {
		name := aiderPath(b[1])
		if _, ok := now[name]; !ok {
			before, ok, err := a.show(ctx, commit+"^:"+name)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			now[name] = before
		}
		c := aiderCall(name, b, now[name])
		switch {
		case b[2] == "":
		case b[2] == b[3]: // The block changes nothing.
		case !strings.Contains(now[name], b[2]):
			inexact[name] = append(inexact[name], c)
		default:
			now[name] = strings.Replace(now[name], b[2], b[3], 1)
			c.after = map[string]string{name: now[name]}
			a.calls = append(a.calls, c)
		}
	}
	for name, calls := range inexact {
		after, ok, err := a.show(ctx, commit+":"+name)
		if err != nil {
			return err
		}
		if len(calls) == 1 && ok && after != now[name] {
			calls[0].before = map[string]string{name: now[name]}
			calls[0].after = map[string]string{name: after}
			a.calls = append(a.calls, calls[0])
		}
	}
	return nil
}

// refused are the blocks that aider quotes as failed.
func (a *aider) refused(ctx context.Context, blocks [][]string, result, commit string) error {
	quoted := strings.ReplaceAll(aiderTrailing.ReplaceAllString(result, ""), "\n> ", "\n")
	for _, b := range blocks {
		name := aiderPath(b[1])
		if b[2] == "" || b[2] == b[3] || !strings.Contains(quoted, strings.TrimRight(aiderTrailing.ReplaceAllString(b[2], ""), "\n")) {
			continue
		}
		before, ok, err := a.show(ctx, commit+":"+name)
		if err != nil {
			return err
		}
		if ok {
			c := aiderCall(name, b, before)
			c.refused = true
			a.calls = append(a.calls, c)
		}
	}
	return nil
}

func aiderPath(line string) string { return path.Clean(strings.Trim(line, "`*:# ")) }

func aiderCall(name string, block []string, before string) call {
	return call{
		tool: "edit_file", before: map[string]string{name: before},
		args: map[string]any{"path": name, "old": block[2], "new": block[3]},
	}
}

// show is a file of a commit; ok is false if the commit does not have it.
func (a *aider) show(ctx context.Context, object string) (text string, ok bool, err error) {
	out, err := exec.CommandContext(ctx, "git", "-C", a.repo, "show", object).Output()
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		return "", false, ctx.Err()
	}
	return string(out), err == nil, err
}

// retries links each refused call to the next accepted call for the same file.
func retries(calls []call) {
	const within = 4
	for i := range calls {
		for j := i + 1; calls[i].refused && calls[i].tool == "edit_file" && j < len(calls) && j <= i+within; j++ {
			if !calls[j].refused && calls[j].args["path"] == calls[i].args["path"] {
				calls[i].retry = &calls[j]
				break
			}
		}
	}
}
