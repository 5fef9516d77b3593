package files

import (
	"bytes"
	"slices"

	udiff "github.com/aymanbagabas/go-udiff"
	"github.com/go-git/go-git/v5/plumbing"
)

// maxMerged is how large the three texts of a merge may be together, in bytes.
const maxMerged = 4 << 20

// Merge merges the changes that lead from base to ours and to theirs. It refuses where both
// changed the same or adjacent lines in different ways, and what is no text.
func Merge(base, ours, theirs []byte) ([]byte, bool) {
	if len(base)+len(ours)+len(theirs) > maxMerged {
		return nil, false
	}
	for _, text := range [][]byte{base, ours, theirs} {
		if bytes.IndexByte(text, 0) >= 0 {
			return nil, false
		}
	}
	mine, yours := udiff.Lines(string(base), string(ours)), udiff.Lines(string(base), string(theirs))
	all := slices.Clone(mine)
	for _, y := range yours {
		if slices.Contains(mine, y) {
			continue
		}
		if slices.ContainsFunc(mine, func(m udiff.Edit) bool { return m.Start <= y.End && y.Start <= m.End }) {
			return nil, false
		}
		all = append(all, y)
	}
	merged, err := udiff.Apply(string(base), all)
	return []byte(merged), err == nil
}

// merge is the outcome of a merge.
type merge struct {
	File
	text []byte
	ok   bool
}

// merge is what a file gets which has neither what the agent left nor what is wanted: its changes
// since the agent left it are kept.
func (r *repo) merge(s Step, now File, data []byte) (m merge, err error) {
	for _, f := range []File{s.Left, s.Want, now} {
		if !s.Merge || f.Mode&typeBits != typeFile {
			return m, nil
		}
	}
	m.Mode = now.Mode
	if now.Mode == s.Left.Mode {
		m.Mode = s.Want.Mode
	} else if s.Want.Mode != s.Left.Mode && s.Want.Mode != now.Mode {
		return m, nil
	}
	left, err := r.read(s.Left.Hash)
	if err != nil {
		return m, err
	}
	want, err := r.read(s.Want.Hash)
	if err != nil {
		return m, err
	}
	m.text, m.ok = Merge(left, data, want)
	m.Hash = plumbing.ComputeHash(plumbing.BlobObject, m.text)
	return m, nil
}
