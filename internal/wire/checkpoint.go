package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

var checkpointBy = enum[item.CheckpointBy]{
	poddv1.CheckpointBy_CHECKPOINT_BY_AGENT:   item.ByAgent,
	poddv1.CheckpointBy_CHECKPOINT_BY_PERSON:  item.ByPerson,
	poddv1.CheckpointBy_CHECKPOINT_BY_RESTORE: item.ByRestore,
}

// CheckpointByToProto converts who changed files.
func CheckpointByToProto(by item.CheckpointBy) poddv1.CheckpointBy {
	return poddv1.CheckpointBy(checkpointBy.number(by))
}

func checkpointToProto(k item.Checkpoint) *poddv1.Checkpoint {
	p := &poddv1.Checkpoint{
		Dir: clean(k.Dir), Commit: clean(k.Commit), Parent: clean(k.Parent), By: CheckpointByToProto(k.By),
		Changed: k.Changed, LeftOut: k.LeftOut, Partial: k.Partial, Node: clean(k.Node), MoreMoved: k.More,
	}
	for _, m := range k.Moved {
		p.Moved = append(p.Moved, &poddv1.MovedRef{
			Repo: clean(m.Repo), Ref: clean(m.Ref), Old: clean(m.Old), New: clean(m.New),
			OldBranch: clean(m.OldBranch), NewBranch: clean(m.NewBranch), Commits: m.Commits,
		})
	}
	return p
}

func checkpointFromProto(p *poddv1.Checkpoint) item.Checkpoint {
	k := item.Checkpoint{
		Dir: p.GetDir(), Commit: p.GetCommit(), Parent: p.GetParent(), By: checkpointBy.name(int32(p.GetBy())),
		Changed: p.GetChanged(), LeftOut: p.GetLeftOut(), Partial: p.GetPartial(), Node: p.GetNode(), More: p.GetMoreMoved(),
	}
	for _, m := range p.GetMoved() {
		k.Moved = append(k.Moved, item.MovedRef{
			Repo: m.GetRepo(), Ref: m.GetRef(), Old: m.GetOld(), New: m.GetNew(),
			OldBranch: m.GetOldBranch(), NewBranch: m.GetNewBranch(), Commits: m.GetCommits(),
		})
	}
	return k
}
