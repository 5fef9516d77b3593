package tool_test

import (
	"testing"

	"podd/pkg/tool"
)

func TestStored(t *testing.T) {
	var later []func()
	done := 0
	turn := tool.Invocation{Later: func(work func()) { later = append(later, work) }}
	turn.Stored(func() { done++ })
	if done != 0 || len(later) != 1 {
		t.Fatalf("done %d, left %d", done, len(later))
	}
	later[0]()
	// Outside of a turn no result is stored, so that none can be lost.
	new(tool.Invocation).Stored(func() { done++ })
	if done != 2 {
		t.Errorf("done %d", done)
	}
}
