package search

import (
	"strings"
)

// probe is the rarest piece of a needle, of up to four bytes: a cheap test that each
// occurrence passes, and little else. places tests many places at once.
type probe struct {
	// at is the rune of the needle at which the piece begins.
	at int
	// A byte b of a place passes if b|mask is want. Each is repeated. A piece of fewer bytes has
	// masks that let every byte pass.
	mask, want [probeLen][16]byte
	one        [probeLen]class
}

// probeLen is how many bytes a probe tests.
const probeLen = 4

// class is a test of one byte.
type class struct{ mask, want byte }

func (c class) has(b byte) bool { return b|c.mask == c.want }

// anyByte lets every byte pass.
var anyByte = class{0xff, 0xff}

// bestProbe finds the piece of a needle that the fewest places pass.
func bestProbe(runes []rune) (best probe) {
	least := 2.0
	for at := range runes {
		one, share := [probeLen]class{anyByte, anyByte, anyByte, anyByte}, 1.0
		for i, c := range classes(runes[at:]) {
			one[i], share = c, share*c.share()
		}
		if share < least {
			best, least = probe{at: at, one: one}, share
		}
	}
	for i, c := range best.one {
		for k := range 16 {
			best.mask[i][k], best.want[i][k] = c.mask, c.want
		}
	}
	return best
}

// classes are tests of the first bytes of what folds to runes. They end where the forms of a
// rune have different lengths.
func classes(runes []rune) (list []class) {
	for _, r := range runes {
		forms := variants(r)
		same := true
		for _, form := range forms {
			same = same && len(form) == len(forms[0])
		}
		for i := range forms[0] {
			c := class{want: forms[0][i]}
			for _, form := range forms {
				if i < len(form) {
					c.mask |= form[i] ^ forms[0][i]
				}
			}
			c.want |= c.mask
			if list = append(list, c); len(list) == probeLen || !same {
				return list
			}
		}
	}
	return list
}

// common are bytes of code and prose, the most common first.
const common = " etaoinsrlcdpumfghb\n\t_.,()y\"vw-=:/kxS01CETAIPFRNDMLBOjq[]{}2*U;GHVWz'83"

// share is how many of all bytes pass, roughly.
func (c class) share() (sum float64) {
	for b := range 256 {
		if !c.has(byte(b)) {
			continue
		}
		sum += 0.0005
		if i := strings.IndexByte(common, byte(b)); i >= 0 {
			sum += 0.2 / float64(i+2)
		}
	}
	return sum
}

// next is the first place from on that passes; -1 without one.
func (p *probe) next(text []byte, from int) int {
	i := from
	if n := (len(text) - i - probeLen + 1) &^ 15; n > 0 {
		if at := places(&text[i], n, p); at >= 0 {
			return i + at
		}
		i += n
	}
	for ; i < len(text); i++ {
		if p.passes(text[i:]) {
			return i
		}
	}
	return -1
}

// passes tests one place near the end of a text.
func (p *probe) passes(text []byte) bool {
	for k, c := range p.one {
		if k < len(text) && !c.has(text[k]) || k >= len(text) && c != anyByte {
			return false
		}
	}
	return true
}
