package retention

import (
	"fmt"
	"time"

	"podd/pkg/item"
)

// Policy says what to remove. Its zero value keeps everything.
type Policy struct {
	// Age is how long to keep an entry; 0 means for ever.
	Age time.Duration `toml:"age" least:"0s" default:"for ever"`
	// Bytes is the size of a pod's log above which its oldest entries are removed; 0 means no
	// limit.
	Bytes int64 `toml:"bytes" range:"0 1099511627776" default:"no limit"`
	// Trash is how long a deleted pod can be restored; 0 means that there is no trash. A
	// Sweeper leaves the trash alone.
	Trash time.Duration `toml:"trash" least:"0s" default:"none"`
}

// Off says that nothing is ever removed.
func (p Policy) Off() bool { return p.Age <= 0 && p.Bytes <= 0 }

// cut is the last entry to remove, and why; ok is false if everything stays. due is when age
// may require the next cut; zero if only new entries can.
func (p Policy) cut(o *outline, waiting item.Seq, now time.Time) (upTo item.Seq, reason string, ok bool, due time.Time) {
	old := o.removable(waiting)
	n := 0
	if p.Bytes > 0 && o.bytes > p.Bytes {
		for n < len(old) && (n == 0 || o.bytes-old[n-1].bytes > p.Bytes) {
			n++
		}
		reason = fmt.Sprintf("the log was larger than %d bytes", p.Bytes)
	}
	if p.Age > 0 {
		for n < len(old) && now.Sub(old[n].time) > p.Age {
			n++
			reason = fmt.Sprintf("they were older than %s", p.Age)
		}
		if n < len(old) {
			due = old[n].time.Add(p.Age)
		}
	}
	if n == 0 {
		return 0, "", false, due
	}
	return old[n-1].seq, reason, true, due
}
