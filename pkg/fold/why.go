package fold

import (
	"cmp"
	"fmt"
	"time"

	"podd/pkg/item"
)

// gone is why a record was left out.
type gone struct {
	// At is the entry that decided, Policy its policy; 0 for a request that is not stored.
	At     item.Seq
	Policy string
	// By is the later edit or read of its file, if there was one by then.
	By     item.Seq
	Edited bool
	// Age is how many requests had been answered since it was added.
	Age int
}

func (l *Ledger) gone(r *record, at item.Seq, policy string) *gone {
	return &gone{At: at, Policy: policy, By: cmp.Or(r.Edited, r.Reread), Edited: r.Edited > 0, Age: l.kept.Steps - r.Born}
}

// clause says why a record is left out.
func (g *gone) clause(r *record) string {
	since := "left out from the next request on"
	if g.At > 0 {
		since = fmt.Sprintf("left out at #%d", g.At)
	}
	switch {
	case !r.Result:
		return since + ": too many images"
	case g.Policy == PolicyPressure:
		return since + ": the window was nearly full"
	case g.Policy == string(ModeTurns):
		return since + ": from before the last turns"
	case g.Edited:
		return fmt.Sprintf("%s: its file was edited at #%d", since, g.By)
	case g.By > 0:
		return fmt.Sprintf("%s: its file was read again at #%d", since, g.By)
	}
	return fmt.Sprintf("%s: %d requests old", since, g.Age)
}

// why explains records of a request that is sent now.
func (l *Ledger) why(now time.Time) func(*record) string {
	s := l.stakes(now)
	return func(r *record) string {
		switch {
		case r.pruned():
			return r.Gone.clause(r)
		case !r.Result || r.Tokens < l.cfg.Floor || r.saving() <= 0 || l.cfg.Mode == ModeOff:
			return ""
		case r.Sticky:
			return "kept: never left out"
		case l.kept.Steps-r.Born < l.cfg.MinRequests:
			return "kept: new"
		case !l.may(r):
			return "kept: an error of this turn"
		case l.cfg.Mode == ModeTurns:
			return "kept: from the last turns, or too small a saving"
		case s.gain(r) <= 0:
			return fmt.Sprintf("kept: %.0f %% likely to be needed again", 100*s.need(r))
		}
		return "kept: breaking the cache costs more"
	}
}
