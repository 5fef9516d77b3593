//go:build !amd64 || purego

package search

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// places is the first of n places that passes; -1 without one. n is a multiple of 16, and the
// text has three bytes more. It tests eight places at once.
func places(text *byte, n int, p *probe) int {
	whole := unsafe.Slice(text, n+probeLen-1)
	var mask, want [probeLen]uint64
	for k := range probeLen {
		mask[k], want[k] = binary.LittleEndian.Uint64(p.mask[k][:]), binary.LittleEndian.Uint64(p.want[k][:])
	}
	for i := 0; i < n; i += 8 {
		s := whole[i : i+8+probeLen-1]
		differ := (binary.LittleEndian.Uint64(s) | mask[0]) ^ want[0]
		differ |= (binary.LittleEndian.Uint64(s[1:]) | mask[1]) ^ want[1]
		differ |= (binary.LittleEndian.Uint64(s[2:]) | mask[2]) ^ want[2]
		differ |= (binary.LittleEndian.Uint64(s[3:]) | mask[3]) ^ want[3]
		// The lowest byte that is zero gets its high bit; bytes above it may get it too.
		if zero := (differ - lowBits) &^ differ & highBits; zero != 0 {
			return i + bits.TrailingZeros64(zero)/8
		}
	}
	return -1
}
