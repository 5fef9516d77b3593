package fold

import "fmt"

// TurnCandidates are the indexes of the results with content before the last protected
// turns: the candidates of ModeTurns, before other protections and the minimum savings.
// It is empty if no turn is older than the protected ones.
func TurnCandidates(elements []Element, protected int) []int {
	turns := 0
	for _, e := range elements {
		if e.StartsTurn {
			turns++
		}
	}
	var found []int
	turn := 0
	for i, e := range elements {
		if e.StartsTurn {
			turn++
		}
		if e.Result && e.saving() > 0 && beforeLast(turn, turns, protected) {
			found = append(found, i)
		}
	}
	return found
}

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
