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
	// Moved are the references of repositories in the directory, and of the one around it, that moved since the
	// one before. More counts those that it does not have. If no path changed, Commit is Parent.
	Moved []MovedRef
	More  int64
}

// MovedRef is a HEAD, a branch, a tag or an entry of the stash that is elsewhere than before a command. It also is a
// merge, cherry-pick, revert or rebase that a command began or ended.
type MovedRef struct {
	// Repo is the working tree, as an absolute path.
	Repo string
	// Ref is HEAD, the full name of a branch or a tag, or refs/stash@ with the commit. What git has begun and not
	// ended is MERGE_HEAD, CHERRY_PICK_HEAD, REVERT_HEAD or REBASE_HEAD.
	Ref string
	// Old and New are commits, or for tags objects; empty for none. That of a rebase is the one that it began with.
	Old, New string
	// OldBranch and NewBranch are what HEAD named; empty for a commit, and for other references.
	OldBranch, NewBranch string
	// Commits counts those from Old to New, in one line; below zero from New to Old, 0 if that is not known.
	Commits int64
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
