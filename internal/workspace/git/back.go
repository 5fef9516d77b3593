package git

import (
	"regexp"
	"slices"
	"strings"
)

// Back is the command for a shell that takes a move back; it leaves the files. It is empty where the reference is no
// longer where the move left it, and where the command for HEAD does it, which comes first. all are the moves of the
// repository.
func (r *Refs) Back(tree string, m Move, all []Move) string {
	if !r.stands(m) {
		return ""
	}
	git := func(args ...string) string {
		words := []string{"git", "-C", quoted(tree)}
		for _, a := range args {
			words = append(words, quoted(a))
		}
		return strings.Join(words, " ")
	}
	short := strings.TrimPrefix(strings.TrimPrefix(m.Ref, Branches), Tags)
	verb := "branch"
	if strings.HasPrefix(m.Ref, Tags) {
		verb = "tag"
	}
	begun, isBegun := strings.CutSuffix(m.Ref, "_HEAD")
	head := slices.IndexFunc(all, func(h Move) bool { return h.Ref == "HEAD" && r.stands(h) })
	switch {
	case m.Ref == "HEAD":
		return strings.Join(r.headBack(m, all, git), " && ")
	case isBegun && m.New == "":
		return ""
	case isBegun:
		return git(strings.ReplaceAll(strings.ToLower(begun), "_", "-"), "--quit") + " && " + git("reset")
	case strings.HasPrefix(short, "-") || head >= 0 && all[head].OldBranch == m.Ref:
		return ""
	case strings.HasPrefix(m.Ref, Stash) && m.New == "":
		return git("stash", "store", "-m", "was dropped", m.Old)
	case strings.HasPrefix(m.Ref, Stash):
		return "" // The number of an entry changes: a command could drop another one.
	case m.New == "":
		return git(verb, short, m.Old)
	case m.Old != "" && r.branch() == m.Ref && head < 0:
		return git("reset", m.Old)
	case m.Old != "":
		return git(verb, "-f", short, m.Old)
	case verb == "tag":
		return git(verb, "-d", short)
	}
	return git(verb, "-D", short)
}

// stands says that a reference is where a move left it.
func (r *Refs) stands(m Move) bool {
	if m.Ref != "HEAD" {
		return r.At(m.Ref) == m.New
	}
	branch, commit := r.Head()
	return branch == m.NewBranch && commit == m.New
}

// headBack are the commands that take HEAD back, with its index.
func (r *Refs) headBack(m Move, all []Move, git func(...string) string) (commands []string) {
	switch {
	case m.OldBranch == "":
		return []string{git("update-ref", "--no-deref", "HEAD", m.Old), git("reset")}
	case m.Old == "" && m.OldBranch == m.NewBranch:
		return []string{git("update-ref", "-d", m.OldBranch), git("read-tree", "--empty")}
	case m.OldBranch != m.NewBranch:
		commands = append(commands, git("symbolic-ref", "HEAD", m.OldBranch))
	}
	// Somebody may have moved the branch since: then it stays.
	ours := func(b Move) bool { return b.Ref == m.OldBranch && b.Old == m.Old && r.stands(b) }
	switch at := r.At(m.OldBranch); {
	case m.Old == "" && at == "":
		return append(commands, git("read-tree", "--empty"))
	case m.Old == "" && slices.ContainsFunc(all, ours):
		return append(commands, git("update-ref", "-d", m.OldBranch), git("read-tree", "--empty"))
	case at == m.Old || !slices.ContainsFunc(all, ours) && m.OldBranch != m.NewBranch:
		return append(commands, git("reset"))
	}
	return append(commands, git("reset", m.Old))
}

var plain = regexp.MustCompile(`^[\w@%+:,./-]+$`)

// quoted is a word for a shell.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
