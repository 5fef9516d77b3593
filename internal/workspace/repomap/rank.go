package repomap

import (
	"cmp"
	"go/token"
	"math"
	"path"
	"slices"
	"strings"
)

const (
	// damping is PageRank's: the share of a file's rank that its votes pass on.
	damping = 0.85
	rounds  = 30
)

// vote is how much of a file's rank goes to another one.
type vote struct {
	to int32
	// share of all votes of the file; they sum to 1.
	share float64
}

// ranking is the value of the files and definitions.
type ranking struct {
	// files sums to 1.
	files []float64
	// names has, by the number of a name, the value of the votes for it.
	names map[int32]float64
}

// rank lets the files vote.
func (m *Map) rank() ranking {
	names := make([]string, len(m.ids))
	for name, id := range m.ids {
		names[id] = name
	}
	votes, totals := make([][]vote, len(m.files)), make([]float64, len(m.files))
	for from, f := range m.files {
		votes[from], totals[from] = m.votesOf(int32(from), f, names)
	}
	r := ranking{files: pageRank(votes), names: map[int32]float64{}}
	for from, f := range m.files {
		if totals[from] == 0 {
			continue
		}
		for _, u := range f.words {
			if to := m.votedFor(int32(from), u.id, names[u.id]); len(to) > 0 {
				r.names[u.id] += r.files[from] * weight(names[u.id], u.n) / totals[from]
			}
		}
	}
	return r
}

// votedFor are the files that get a vote of a word.
func (m *Map) votedFor(from, id int32, name string) []int32 {
	files := m.definers[id]
	if len(files) == 0 || slices.Contains(files, from) {
		return nil
	}
	var to []int32
	for _, file := range files {
		if m.isVisible(from, file, name) {
			to = append(to, file)
		}
		if len(to) > maxDefiners {
			return nil
		}
	}
	return to
}

// isVisible says whether a file can mean the other one's name: both have the same language,
// and in Go the name is exported or the package is the same.
func (m *Map) isVisible(from, to int32, name string) bool {
	a, b := m.files[from], m.files[to]
	if a.family != b.family {
		return false
	}
	return a.family != goExtension || token.IsExported(name) || path.Dir(a.path) == path.Dir(b.path)
}

// votesOf are the votes of a file, in the order of the voted files.
func (m *Map) votesOf(from int32, f file, names []string) (votes []vote, total float64) {
	for _, u := range f.words {
		to := m.votedFor(from, u.id, names[u.id])
		if len(to) == 0 {
			continue
		}
		w := weight(names[u.id], u.n)
		total += w
		for _, file := range to {
			votes = append(votes, vote{file, w / float64(len(to))})
		}
	}
	slices.SortStableFunc(votes, func(a, b vote) int { return cmp.Compare(a.to, b.to) })
	merged := votes[:0]
	for _, v := range votes {
		v.share /= total
		if last := len(merged) - 1; last >= 0 && merged[last].to == v.to {
			merged[last].share += v.share
			continue
		}
		merged = append(merged, v)
	}
	return merged, total
}

// weight is the significance of the uses of a name: it decreases with each use, is higher
// for a carefully chosen name, and low for one that its file keeps private.
func weight(name string, uses int32) float64 {
	w := math.Sqrt(float64(uses))
	composed := strings.Contains(name[1:], "_") || strings.ToLower(name[1:]) != name[1:]
	switch {
	case strings.HasPrefix(name, "_"):
		w *= 0.1
	case len(name) >= 8 && composed:
		w *= 10
	}
	return w
}

// pageRank is the rank of each file; a file without votes gives its rank to all.
func pageRank(votes [][]vote) []float64 {
	n := float64(len(votes))
	rank := make([]float64, len(votes))
	for i := range rank {
		rank[i] = 1 / n
	}
	for range rounds {
		next, idle := make([]float64, len(votes)), 0.0
		for from, list := range votes {
			if len(list) == 0 {
				idle += rank[from]
			}
			for _, v := range list {
				next[v.to] += damping * rank[from] * v.share
			}
		}
		for i := range next {
			next[i] += (1 - damping + damping*idle) / n
		}
		rank = next
	}
	return rank
}
