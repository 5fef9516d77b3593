package fold

import (
	"hash/fnv"
	"slices"
)

// callIDs remembers the ids of a log's calls, as hashes of 8 bytes. A false match only
// makes podd choose a new id.
type callIDs struct {
	// old are those of a base, ascending; recent are the later ones.
	old    []uint64
	recent map[uint64]struct{}
}

func hashOf(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return h.Sum64()
}

func (c *callIDs) add(id string) {
	if c.recent == nil {
		c.recent = make(map[uint64]struct{})
	}
	c.recent[hashOf(id)] = struct{}{}
}

func (c *callIDs) has(id string) bool {
	h := hashOf(id)
	if _, ok := c.recent[h]; ok {
		return true
	}
	_, ok := slices.BinarySearch(c.old, h)
	return ok
}

// all are the hashes of all ids, ascending.
func (c *callIDs) all() []uint64 {
	all := slices.Clone(c.old)
	for h := range c.recent {
		all = append(all, h)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
