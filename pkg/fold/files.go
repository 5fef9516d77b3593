package fold

import (
	"slices"

	"podd/pkg/item"
)

// Files are what the log says about the files of a pod.
type Files struct {
	// Last has the last checkpoint of each directory.
	Last []item.Checkpoint
	// Since is the entry after which the last changes of the agent are, and what a person saved
	// beside the first of them: those of one turn, or of one restore; 0 without any. Until there are any, it is
	// where references of git moved first.
	Since item.Seq
	// Turn is the turn that made them; 0 for a restore.
	Turn int64
	// Restoring is a restore that has not ended; its After is 0 without one.
	Restoring item.Restore
	// began is the entry before the checkpoints that one look stored in a row, last their last one.
	began, last item.Seq
	// moved is the entry before those in which references moved in a turn without changes of files yet,
	// moving the turn.
	moved  item.Seq
	moving int64
}

// At is the last checkpoint of a directory; empty without one.
func (f Files) At(dir string) string {
	for _, c := range f.Last {
		if c.Dir == dir {
			return c.Commit
		}
	}
	return ""
}

func (f *Files) checkpoint(seq item.Seq, turn int64, k item.Checkpoint) {
	f.Last = slices.DeleteFunc(slices.Clone(f.Last), func(c item.Checkpoint) bool { return c.Dir == k.Dir })
	if len(k.Moved) > 0 {
		k.Moved, k.More = nil, 0
	}
	f.Last = append(f.Last, k)
	if seq-1 != f.last {
		f.began = seq - 1
	}
	f.last = seq
	if k.By != item.ByAgent || k.Parent == "" {
		return
	}
	if f.moving != turn {
		f.moved, f.moving = f.began, turn
	}
	// A turn that only commits is not what an undo takes back.
	if f.Since == 0 || f.Turn != turn && k.Changed > 0 {
		f.Since, f.Turn = f.moved, turn
	}
}

func (f *Files) restore(seq item.Seq, k item.Restore) {
	if k.Ended {
		f.Restoring = item.Restore{}
		return
	}
	f.Restoring, f.Since, f.Turn = k, seq, 0
}
