package pod

import (
	"slices"
	"testing"

	"podd/pkg/item"
)

// Each move has one sentence, and moves that follow each other have one together.
func TestMovesInWords(t *testing.T) {
	const a, b, c = "aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"
	const main, side, dir, other = "refs/heads/main", "refs/heads/side", "/d", "/d/nested"
	head := func(from, to, old, now string, commits int64) item.MovedRef {
		return item.MovedRef{Repo: dir, Ref: "HEAD", OldBranch: from, NewBranch: to, Old: old, New: now, Commits: commits}
	}
	ref := func(name, old, now string) item.MovedRef {
		return item.MovedRef{Repo: dir, Ref: name, Old: old, New: now}
	}
	in := func(m item.MovedRef) item.MovedRef { m.Repo = other; return m }
	for name, test := range map[string]struct {
		// turns have the moves of each.
		turns [][]item.MovedRef
		want  []string
	}{
		"a commit": {[][]item.MovedRef{{head(main, main, a, b, 1), ref(main, a, b)}}, []string{"HEAD moved on main from aaaaaaa to bbbbbbb (1 commit) during turn 1"}},
		"commits":  {[][]item.MovedRef{{head(main, main, a, b, 2)}, {head(main, main, b, c, 1)}}, []string{"HEAD moved on main from aaaaaaa to ccccccc (3 commits) during turns 1 to 2"}},
		"back":     {[][]item.MovedRef{{head(main, main, b, a, -1)}}, []string{"HEAD moved on main from bbbbbbb to aaaaaaa (back by 1 commit) during turn 1"}},
		"farther back": {[][]item.MovedRef{{head(main, main, c, b, -1)}, nil, {head(main, main, b, a, -2)}},
			[]string{"HEAD moved on main from ccccccc to aaaaaaa (back by 3 commits) during turns 1 to 3"}},
		"on and back":    {[][]item.MovedRef{{head(main, main, a, b, 2)}, {head(main, main, b, a, -2)}}, nil},
		"on and half":    {[][]item.MovedRef{{head(main, main, a, c, 2)}, {head(main, main, c, b, -1)}}, []string{"HEAD moved on main from aaaaaaa to bbbbbbb during turns 1 to 2"}},
		"a switch first": {[][]item.MovedRef{{head(main, side, a, a, 0)}, {head(side, side, a, b, 1)}}, []string{"HEAD moved from main aaaaaaa to side bbbbbbb (1 commit) during turns 1 to 2"}},
		"a switch last":  {[][]item.MovedRef{{head(main, main, a, b, 1)}, {head(main, side, b, b, 0)}}, []string{"HEAD moved from main aaaaaaa to side bbbbbbb (1 commit) during turns 1 to 2"}},
		"moved between":  {[][]item.MovedRef{{head(main, main, a, b, 1)}, {head(main, main, c, a, 0)}}, []string{"HEAD moved on main from aaaaaaa to bbbbbbb (1 commit) during turn 1", "HEAD moved on main from ccccccc to aaaaaaa during turn 2"}},
		"detached":       {[][]item.MovedRef{{head(main, "", a, b, 0)}}, []string{"HEAD moved from main aaaaaaa to bbbbbbb during turn 1"}},
		"the first one":  {[][]item.MovedRef{{head(main, main, "", a, 0), ref(main, "", a)}}, []string{"HEAD moved on main from no commit to aaaaaaa during turn 1"}},
		"branches and tags": {[][]item.MovedRef{{ref("refs/tags/v", "", a), ref(side, a, b), ref("refs/heads/new/x", "", a), ref("refs/tags/w", a, "")}},
			[]string{"branch new/x made at aaaaaaa during turn 1", "branch side moved from aaaaaaa to bbbbbbb during turn 1", "tag v made at aaaaaaa during turn 1", "tag w deleted (was at aaaaaaa) during turn 1"}},
		"made and deleted": {[][]item.MovedRef{{ref(side, "", a)}, {ref(side, a, "")}}, nil},
		"a stash":          {[][]item.MovedRef{{ref("refs/stash@"+a, "", a), ref("refs/stash@"+b, b, "")}}, []string{"stash aaaaaaa made during turn 1", "stash bbbbbbb dropped during turn 1"}},
		"a merge":          {[][]item.MovedRef{{ref("MERGE_HEAD", "", a)}}, []string{"merge of aaaaaaa begun and not ended during turn 1"}},
		"a whole merge":    {[][]item.MovedRef{{ref("MERGE_HEAD", "", a)}, {ref("MERGE_HEAD", a, "")}}, nil},
		"a person's pick":  {[][]item.MovedRef{{in(ref("CHERRY_PICK_HEAD", a, ""))}}, []string{"cherry-pick of aaaaaaa in /d/nested ended during turn 1"}},
		"of another":       {[][]item.MovedRef{{in(head(main, main, a, b, 1)), in(ref(main, a, b)), ref(main, a, b)}}, []string{"branch main moved from aaaaaaa to bbbbbbb during turn 1", "HEAD of /d/nested moved on main from aaaaaaa to bbbbbbb (1 commit) during turn 1"}},
	} {
		var all moves
		for i, moved := range test.turns {
			all.add(item.Entry{Turn: int64(i) + 1, Kind: item.Checkpoint{Moved: moved}})
			all.add(item.Entry{Turn: int64(i) + 1, Kind: item.TurnEnded{}})
		}
		var got []string
		for _, v := range all.named() {
			got = append(got, v.text(dir))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\n%q, want\n%q", name, got, test.want)
		}
	}
}
