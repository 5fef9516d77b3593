// Package files is the wing of podd that keeps what the files of pods were: a checkpoint after each step that changed
// some, and before it for what others changed. It takes changes back, and shows them. It serves FileService. Package
// checkpoint stores the files; this one says which belong to a pod, and records them in its log.
package files

import (
	"context"

	"podd/internal/workspace/checkout"
	"podd/internal/workspace/checkpoint"
	"podd/pkg/pod"
)

// Config configures Files.
type Config struct {
	Host *pod.Host
	// Stores keep the files; nil for a podd that keeps nothing.
	Stores *checkpoint.Stores
	// Checkouts need checkpoints of their own; nil for none.
	Checkouts *checkout.Checkouts
	// Alone says whether a call may see only what its own pod changed; Redact removes secrets from a diff. Only the
	// service needs them.
	Alone  func(context.Context) bool
	Redact func(string) string
}

// Files are those of all pods. Its methods may be called from any goroutine. Errors that a client may see are
// *item.Error.
type Files struct{ Config }

// Open makes the wing. It is called before the Host recovers its pods.
func Open(c Config) *Files {
	w := &Files{c}
	c.Host.Attach(pod.Wing{Unfinished: w.unfinished})
	return w
}
