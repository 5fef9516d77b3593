package tool_test

import (
	"testing"

	"podd/pkg/tool"
)

func TestStored(t *testing.T) {
	var later []func()
	done := 0
	tool.Stored(tool.WithStored(t.Context(), func(work func()) { later = append(later, work) }), func() { done++ })
	if done != 0 || len(later) != 1 {
		t.Fatalf("done %d, left %d", done, len(later))
	}
	later[0]()
	// Nobody stores the result: nothing can be lost any more.
	tool.Stored(t.Context(), func() { done++ })
	if done != 2 {
		t.Errorf("done %d", done)
	}
}
