package report

import (
	"testing"
	"time"

	"podd/pkg/item"
)

// FoldEntries makes a watcher fold that many entries a round of pods that are not in memory, until the test ends.
func FoldEntries(t *testing.T, entries item.Seq) {
	was := foldedEntries
	foldedEntries = entries
	t.Cleanup(func() { foldedEntries = was })
}

// Paces are those of an answer whose bytes were looked at once a second.
func Paces(bytes []int) (paces []int) {
	var k observed
	now := time.Unix(0, 0)
	for _, n := range bytes {
		now = now.Add(time.Second)
		paces = append(paces, k.pace(n, now))
	}
	return paces
}
