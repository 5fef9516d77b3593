package workspace

import (
	"maps"
	"slices"

	"podd/internal/workspace/git"
	"podd/pkg/fold"
	"podd/pkg/item"
)

// Bounds of what one look records about the references of git.
const (
	maxRepositories = 16
	maxMoved        = 32
)

// refs are where the references of repositories were at the last look of a turn, by the working trees.
type refs map[string]*git.Refs

// look reads those of some working trees. It returns what moved since the last look, and how many more.
func (r refs) look(trees []string) (moved []item.MovedRef, more int64) {
	for _, tree := range trees {
		before := r[tree]
		now := git.ReadRefs(tree, before)
		r[tree] = now
		if before == nil || now == nil {
			continue
		}
		for _, m := range now.Since(before) {
			if len(moved) == maxMoved {
				more++
				continue
			}
			out := item.MovedRef{Repo: tree, Ref: m.Ref, Old: m.Old, New: m.New, OldBranch: m.OldBranch, NewBranch: m.NewBranch}
			if m.Ref == "HEAD" {
				out.Commits = int64(git.Ahead(tree, m.Old, m.New))
			}
			moved = append(moved, out)
		}
	}
	return moved, more
}

// trees are the working trees of repositories in a directory, and the one that was around it at the
// first look of the turn.
func (s *saver) trees(dir string) []string {
	all := s.of(dir).Repositories(maxRepositories)
	around, known := s.around[dir]
	if !known {
		around = git.Enclosing(dir)
		s.around[dir] = around
	}
	if around != "" && !slices.Contains(all, around) {
		all = append(all, around)
	}
	return all
}

// withMoves adds what moved since the last look to the checkpoints of a look: of commands, if agent is set.
func (s *saver) withMoves(taken []item.Checkpoint, at fold.Files, agent bool) []item.Checkpoint {
	seen := make(map[string]bool)
	for _, dir := range s.dirs {
		own := slices.DeleteFunc(s.trees(dir), func(tree string) bool { return seen[tree] })
		for _, tree := range own {
			seen[tree] = true
		}
		moved, more := s.refs.look(own)
		if !agent || len(moved) == 0 {
			continue
		}
		i := slices.IndexFunc(taken, func(k item.Checkpoint) bool { return k.Dir == dir && k.By == item.ByAgent })
		if i < 0 {
			for _, last := range at.Last {
				if last.Dir == dir {
					last.Parent, last.By, last.Changed = last.Commit, item.ByAgent, 0
					taken, i = slices.Insert(taken, 0, last), 0
				}
			}
		}
		if i >= 0 {
			taken[i].Moved, taken[i].More = moved, more
		}
	}
	// What was removed is not what is made there later.
	maps.DeleteFunc(s.refs, func(tree string, _ *git.Refs) bool { return !seen[tree] })
	return taken
}

// Back are the commands that take moves back, empty for those without one; see [pod.Files].
func (c *Checkpoints) Back(moved []item.MovedRef) []string {
	now, all := make(refs), make(map[string][]git.Move)
	for _, m := range moved {
		if _, known := now[m.Repo]; !known {
			now[m.Repo] = git.ReadRefs(m.Repo, nil)
		}
		all[m.Repo] = append(all[m.Repo], asMove(m))
	}
	out := make([]string, len(moved))
	for i, m := range moved {
		if r := now[m.Repo]; r != nil {
			out[i] = r.Back(m.Repo, asMove(m), all[m.Repo])
		}
	}
	return out
}

func asMove(m item.MovedRef) git.Move {
	return git.Move{Ref: m.Ref, Old: m.Old, New: m.New, OldBranch: m.OldBranch, NewBranch: m.NewBranch}
}
