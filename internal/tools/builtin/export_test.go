package builtin

import (
	"testing"
	"time"
)

// CountForLong lets searches count for as long as it takes until the test ends.
func CountForLong(t *testing.T) {
	was := maxCountingTime
	maxCountingTime = time.Hour
	t.Cleanup(func() { maxCountingTime = was })
}
