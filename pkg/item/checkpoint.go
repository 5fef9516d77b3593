package item

// Checkpoint records what the files of a directory are, in podd's own repository of it.
type Checkpoint struct {
	// Dir is absolute.
	Dir string
	// Commit is the checkpoint, Parent the one before it; empty for the first one.
	Commit, Parent string
	// By says who made the changes since the one before, Changed how many paths they are.
	By      CheckpointBy
	Changed int64
	// LeftOut counts the paths of the directory that it does not have.
	LeftOut int64
	// Partial says that only files that tools named are covered.
	Partial bool
	// Node is the node that has it; empty if one podd has all pods.
	Node string
}

// Restore records that podd begins to take changes of files back, or has done so.
type Restore struct {
	// After is the entry after which the changes are taken back.
	After Seq
	// Ended says that it has ended. One that has not goes on when podd starts again.
	Ended bool
	// Changed counts the paths that it changed, Kept are the absolute ones that somebody
	// changed since; both of one that has ended.
	Changed int64
	Kept    []string
	// Pod is the id of its pod: a fork has the entry too, and does not go on with it.
	Pod string
	// Merge says that it merges texts that somebody changed since.
	Merge bool
}

// CheckpointBy says who made the changes of a checkpoint.
type CheckpointBy string

// Who made changes.
const (
	// ByAgent: a tool of the pod, or a command that it ran.
	ByAgent CheckpointBy = "agent"
	// ByPerson: anybody else.
	ByPerson CheckpointBy = "person"
	// ByRestore: podd, which took changes back.
	ByRestore CheckpointBy = "restore"
)
