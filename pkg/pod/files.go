package pod

import (
	"context"
	"fmt"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// Files keep what the files of pods were, and take changes back. Package workspace has them.
// Their methods may hang.
type Files interface {
	// Undo says what it takes to take back the agent's changes of consecutive checkpoints, as
	// the files are now. With merge it merges texts that somebody changed since.
	Undo(ctx context.Context, line []item.Checkpoint, merge bool) (Undo, error)
	// Restored takes the checkpoints after a restore of some paths.
	Restored(ctx context.Context, p item.Pod, at fold.Files, paths []string) ([]item.Checkpoint, error)
	// Changes passes the changes of consecutive checkpoints to fn, in the order of their paths:
	// those of the agent first. The names of paths that the directories have and no checkpoint
	// follow in LeftOut.
	Changes(ctx context.Context, line []item.Checkpoint, fn func(FileChange) error) error
	// HeadMoved says whether HEAD moved since a moment, in git's repository around a directory.
	HeadMoved(dir string, since time.Time) bool
	// Collect frees the space of unneeded checkpoints. keep has the commits that are needed, by
	// their directory, always those of them that stay however large they are. Those since a time
	// stay, too.
	Collect(ctx context.Context, keep, always map[string][]string, since time.Time) error
	// LeftOut names paths that no checkpoint of a pod has, at most a thousand.
	LeftOut(ctx context.Context, spec item.PodSpec) ([]string, error)
}

// Undo are changes that can be taken back.
type Undo interface {
	// Paths are those that change; absolute.
	Paths() []string
	// Merged are those of them that also keep what somebody changed since.
	Merged() []string
	// Reaches are those that change, and those that need no change any more.
	Reaches() []string
	// Conflicts stay as they are.
	Conflicts() []FileConflict
	// Do takes the changes back, but those of conflicts.
	Do(ctx context.Context) (Undone, error)
}

// Undone is what became of files.
type Undone struct {
	// Changed counts the paths that changed. Merged are those of them that also keep what
	// somebody changed since.
	Changed int
	Merged  []string
	// Kept stay as they are.
	Kept []FileConflict
}

// FileConflict is a path that somebody changed after the agent did.
type FileConflict struct {
	// Path is absolute.
	Path string
	// Why is half a sentence about it: "was deleted after the agent changed it".
	Why string
}

// FileChange is the change of one path.
type FileChange struct {
	// Path is absolute.
	Path string
	// By is the agent, or a person.
	By item.CheckpointBy
	// Before and After are "file", "link", "dir" or empty; Mode says how permissions changed,
	// as "644 -> 755", empty if they did not.
	Before, After, Mode string
	// Added and Removed count lines. Diff is unified, without names; empty for binary and for
	// large files.
	Added, Removed int
	Diff           string
}

func noFiles(name string) error {
	return item.Errorf(item.KindPrecondition, "NO_CHANGES", "pod %s has no changes of files that podd can take back", name)
}

// noTurn is the error for a turn that a pod has not had.
func noTurn(rec item.Pod, turn int64) error {
	last := fmt.Sprintf("its last one is turn %d", rec.Status.Turn)
	if rec.Status.Turn == 0 {
		last = "it has had none yet"
	}
	return item.Errorf(item.KindNotFound, "TURN_NOT_FOUND", "pod %s has no turn %d: %s", rec.Name, turn, last)
}
