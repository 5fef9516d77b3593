// Package files is the wing of podd that keeps what the files of pods were: a checkpoint after each step that changed
// some, and before it for what others changed. It takes changes back, and shows them. It serves FileService.
//
// [Stores] keep the checkpoints, a [Workspace] those of one directory. A checkpoint is a commit in a bare git repository
// of podd's own, one a directory, that stock git reads. It has the bytes of files, their permission bits, the text of
// links and empty directories; not owners, times, attributes or hard links. Trees have the real permission bits, which
// git reads as 644 or 755. It leaves out what git ignores as a whole directory, every .git, files that are too large, and
// what is neither a file nor a link nor a directory. Left-out files that a file tool named are in it, and named in its
// commit's message.
//
// Each checkpoint is one pack, and 64 small ones become one. podd walks the directory itself: git add applies filters and
// line ends, keeps only a link of a nested repository, and costs a process.
//
// Whose a change is follows from when it was seen. What changed between the two checkpoints of a step is the agent's, so
// both are stored in the transactions of the call's start and of its result.
//
// Changes are taken back path by path, by one rule. The agent left A, the file is C now, B is wanted: where C is A, B is
// written; where C is B, nothing is done; otherwise it is a conflict, and C stays.
//
// [Files] says which checkpoints belong to a pod. Its log has them.
package files

import (
	"context"

	"podd/internal/workspace/checkout"
	"podd/pkg/pod"
)

// Config configures Files.
type Config struct {
	Host *pod.Host
	// Stores keep the files; nil for a podd that keeps nothing.
	Stores *Stores
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
