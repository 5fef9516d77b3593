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
	return &poddv1.Checkpoint{
		Dir: clean(k.Dir), Commit: clean(k.Commit), Parent: clean(k.Parent), By: CheckpointByToProto(k.By),
		Changed: k.Changed, LeftOut: k.LeftOut, Partial: k.Partial, Node: clean(k.Node),
	}
}

func checkpointFromProto(p *poddv1.Checkpoint) item.Checkpoint {
	return item.Checkpoint{
		Dir: p.GetDir(), Commit: p.GetCommit(), Parent: p.GetParent(), By: checkpointBy.name(int32(p.GetBy())),
		Changed: p.GetChanged(), LeftOut: p.GetLeftOut(), Partial: p.GetPartial(), Node: p.GetNode(),
	}
}
