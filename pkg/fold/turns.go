package fold

import "fmt"

// beforeLast says whether a turn is older than the last protected ones.
func beforeLast(turn, turns, protected int) bool {
	return turns > protected && turn <= turns-protected
}

// decideTurns is the rule of ModeTurns.
func (l *Ledger) decideTurns() Decision {
	var chosen []int
	for _, i := range l.open {
		r := &l.kept.Records[i]
		if !beforeLast(r.Turn, l.kept.Turns, l.cfg.Turns.Protected) {
			break
		}
		if l.may(r) {
			chosen = append(chosen, i)
		}
	}
	d := l.decision(chosen, string(ModeTurns))
	if d.Saved < l.cfg.Turns.MinSavings {
		return Decision{}
	}
	d.Reason = fmt.Sprintf("%s: from before the last %d turns", d.extent(), l.cfg.Turns.Protected)
	return d
}
