package tool

import (
	"math"
	"slices"

	"podd/pkg/item"
)

// Stored are the limits as a setup has them: the general one, then those of single tools,
// by name.
func (l *Limits) Stored() []item.OutputLimit {
	names := []string{"read_file", "repo_map", "shell"}
	for name := range l.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	var stored []item.OutputLimit
	for _, name := range append([]string{""}, slices.Compact(names)...) {
		limit := l.For(name)
		stored = append(stored, item.OutputLimit{
			Tool: name, MaxBytes: limit.MaxBytes, MaxLines: limit.MaxLines, Strategy: string(limit.Strategy), HeadPercent: limit.HeadPercent,
		})
	}
	return stored
}

// LimitsOf are the limits of a setup; nil for a setup without limits. They remove no
// secrets: stored outputs have none.
func LimitsOf(stored []item.OutputLimit) *Limits {
	if len(stored) == 0 {
		return nil
	}
	l := &Limits{tools: make(map[string]Limit), most: math.MaxInt}
	for _, s := range stored {
		limit := Limit{MaxBytes: s.MaxBytes, MaxLines: s.MaxLines, Strategy: Strategy(s.Strategy), HeadPercent: s.HeadPercent}
		if s.Tool == "" {
			l.general = limit
		} else {
			l.tools[s.Tool] = limit
		}
	}
	return l
}

// Hold returns a stored output as it is sent under the limits: cut, if it was stored
// under larger ones. ok is false for one within them. nil limits change nothing.
func (l *Limits) Hold(name string, out Output) (_ Output, ok bool) {
	if l == nil || l.For(name).fits(out.Content) {
		return out, false
	}
	return l.Apply(name, out, nil), true
}
