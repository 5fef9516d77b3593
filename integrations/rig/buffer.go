//go:build integrations

package rig

import (
	"bytes"
	"sync"
)

// Buffer is the output of a program; it may be read while it grows.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds text.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is all the text.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
