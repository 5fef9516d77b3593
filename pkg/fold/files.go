package fold

import (
	"slices"

	"podd/pkg/item"
)

// Files are what the log says about the files of a pod.
type Files struct {
	// Last has the last checkpoint of each directory.
	Last []item.Checkpoint
	// Since is the entry after which the last changes of the agent are, those of one turn,
	// or of one restore; 0 without any.
	Since item.Seq
	// Turn is the turn that made them; 0 for a restore.
	Turn int64
	// Restoring is a restore that has not ended; its After is 0 without one.
	Restoring item.Restore
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
	f.Last = append(f.Last, k)
	if k.By == item.ByAgent && k.Parent != "" && k.Changed > 0 && (f.Since == 0 || f.Turn != turn) {
		f.Since, f.Turn = seq-1, turn
	}
}

func (f *Files) restore(seq item.Seq, k item.Restore) {
	if k.Ended {
		f.Restoring = item.Restore{}
		return
	}
	f.Restoring, f.Since, f.Turn = k, seq, 0
}
