package search

import (
	"testing"

	"pgregory.net/rapid"
)

// The places that a probe finds are those that pass one by one, wherever the text begins.
func TestProbeFindsEachPlace(t *testing.T) {
	letter := rapid.SampledFrom([]rune("aAbBzk\u212aßẞé\u2028"))
	rapid.Check(t, func(t *rapid.T) {
		p := newNeedle(rapid.StringOfN(letter, 1, 4, -1).Draw(t, "needle")).probe
		text := []byte(rapid.StringOfN(letter, 0, 100, -1).Draw(t, "text"))
		text = text[min(rapid.IntRange(0, 20).Draw(t, "from"), len(text)):]
		found := p.next(text, 0)
		for i := range text {
			passes := p.passes(text[i:])
			if passes != (i == found) {
				t.Fatalf("place %d of %q: next says %d, passes says %t", i, text, found, passes)
			}
			if passes {
				found = p.next(text, i+1)
			}
		}
		if found != -1 {
			t.Fatalf("next says %d after the last place of %q", found, text)
		}
	})
}
