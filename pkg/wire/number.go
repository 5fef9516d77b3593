package wire

import "math"

// toInt32 is n, limited to the range of a message's field.
func toInt32(n int) int32 {
	return int32(min(max(n, math.MinInt32), math.MaxInt32))
}
