package wire

import "math"

// toInt32 is n, held at the ends of the range that a message's field can carry.
func toInt32(n int) int32 {
	return int32(min(max(n, math.MinInt32), math.MaxInt32))
}
