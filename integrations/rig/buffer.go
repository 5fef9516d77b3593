//go:build integrations

package rig

import (
	"bytes"
	"sync"
)

// Buffer is what a program has written so far; it may be read while more comes.
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

// String is all text so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
