package pod

import (
	"fmt"
	"slices"
	"strings"

	"podd/pkg/item"
)

// RefChange says what became of a reference of git during turns.
type RefChange struct {
	// Text is a sentence without its end. Back is the command that takes it back; empty for none.
	Text, Back string
}

// maxRefChanges is how many are named.
const maxRefChanges = 30

// moves are references that moved during turns, in their order.
type moves struct {
	all []move
	// more counts those that the log does not have.
	more int64
}

// move is a reference that moved during the turns from one to another.
type move struct {
	item.MovedRef
	from, to int64
}

// add adds what an entry has. A move that continues another one, or that of the same reference by another
// directory, becomes one with it.
func (m *moves) add(e item.Entry) {
	k, ok := e.Kind.(item.Checkpoint)
	if !ok {
		return
	}
	m.more += k.More
	for _, now := range k.Moved {
		i := slices.IndexFunc(m.all, func(was move) bool {
			return was.Repo == now.Repo && was.Ref == now.Ref && was.New == now.Old && was.NewBranch == now.OldBranch
		})
		if i < 0 {
			m.all = append(m.all, move{now, e.Turn, e.Turn})
			continue
		}
		was := &m.all[i]
		was.Commits = joined(*was, now)
		was.New, was.NewBranch, was.to = now.New, now.NewBranch, e.Turn
	}
}

// joined counts the commits of two moves that follow each other; 0 if that is not known.
func joined(was move, now item.MovedRef) int64 {
	switch {
	case was.Old == was.New:
		return now.Commits
	case now.Old == now.New:
		return was.Commits
	case was.Commits > 0 && now.Commits > 0, was.Commits < 0 && now.Commits < 0:
		return was.Commits + now.Commits
	}
	return 0
}

// named are the moves to be named: not those of what is where it was, nor of a branch that moved with HEAD.
func (m *moves) named() (out []move) {
	for _, v := range m.all {
		with := func(h move) bool {
			return h.Repo == v.Repo && h.Ref == "HEAD" && h.OldBranch == v.Ref && h.NewBranch == v.Ref && h.Old == v.Old && h.New == v.New
		}
		if (v.Old != v.New || v.OldBranch != v.NewBranch) && !slices.ContainsFunc(m.all, with) {
			out = append(out, v)
		}
	}
	// The commands that go back begin with HEAD.
	slices.SortStableFunc(out, func(a, b move) int {
		if a.Repo != b.Repo {
			return strings.Compare(a.Repo, b.Repo)
		}
		return strings.Compare(a.Ref, b.Ref)
	})
	return out
}

// changes are the moves in words. dir is the pod's directory.
func (m *moves) changes(files Files, dir string) (out []RefChange) {
	named := m.named()
	if len(named) == 0 && m.more == 0 {
		return nil
	}
	refs := make([]item.MovedRef, len(named))
	for i, v := range named {
		refs[i] = v.MovedRef
	}
	back := files.Back(refs)
	for i, v := range named[:min(len(named), maxRefChanges)] {
		out = append(out, RefChange{v.text(dir), back[i]})
	}
	if more := int64(len(named)-len(out)) + m.more; more > 0 {
		out = append(out, RefChange{fmt.Sprintf("%d more branches, tags or entries of the stash moved", more), ""})
	}
	return out
}

// text is a sentence about a move.
func (v move) text(dir string) string {
	of, in := "", ""
	if v.Repo != dir {
		of, in = " of "+v.Repo, " in "+v.Repo
	}
	when := fmt.Sprintf(" during turn %d", v.from)
	if v.to != v.from {
		when = fmt.Sprintf(" during turns %d to %d", v.from, v.to)
	}
	name := strings.TrimPrefix(v.Ref, "refs/heads/")
	kind := "branch "
	if tag, ok := strings.CutPrefix(v.Ref, "refs/tags/"); ok {
		kind, name = "tag ", tag
	}
	begun, isBegun := strings.CutSuffix(v.Ref, "_HEAD")
	begun = strings.ReplaceAll(strings.ToLower(begun), "_", "-")
	switch {
	case v.Ref == "HEAD":
		return "HEAD" + of + " moved" + v.headText() + v.counted() + when
	case isBegun && v.New == "":
		return begun + " of " + short(v.Old) + in + " ended" + when
	case isBegun:
		return begun + " of " + short(v.New) + in + " begun and not ended" + when
	case strings.HasPrefix(v.Ref, "refs/stash@") && v.Old == "":
		return "stash " + short(v.New) + of + " made" + when
	case strings.HasPrefix(v.Ref, "refs/stash@"):
		return "stash " + short(v.Old) + of + " dropped" + when
	case v.Old == "":
		return kind + name + of + " made at " + short(v.New) + when
	case v.New == "":
		return kind + name + of + " deleted (was at " + short(v.Old) + ")" + when
	}
	return kind + name + of + " moved from " + short(v.Old) + " to " + short(v.New) + when
}

func (v move) headText() string {
	place := func(branch, commit string) string {
		if branch == "" {
			return short(commit)
		}
		return strings.TrimPrefix(branch, "refs/heads/") + " " + short(commit)
	}
	if v.OldBranch == v.NewBranch && v.OldBranch != "" {
		return " on " + strings.TrimPrefix(v.OldBranch, "refs/heads/") + " from " + short(v.Old) + " to " + short(v.New)
	}
	return " from " + place(v.OldBranch, v.Old) + " to " + place(v.NewBranch, v.New)
}

// counted says how many commits it moved.
func (v move) counted() string {
	switch n := v.Commits; {
	case n == 1:
		return " (1 commit)"
	case n > 1:
		return fmt.Sprintf(" (%d commits)", n)
	case n == -1:
		return " (back by 1 commit)"
	case n < 0:
		return fmt.Sprintf(" (back by %d commits)", -n)
	}
	return ""
}

// short is the beginning of a commit's name.
func short(commit string) string {
	if commit == "" {
		return "no commit"
	}
	return commit[:min(len(commit), 7)]
}
