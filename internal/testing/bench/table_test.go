package main

import (
	"strings"
	"testing"
)

func TestGoals(t *testing.T) {
	for _, c := range []struct {
		goal        goal
		podd, floor float64
		text, met   string
	}{
		{mostTimes(1.3, ofFloor), 2.6, 2, "at most 1.3 x floor", "yes"},
		{mostTimes(1.3, ofFloor), 2.7, 2, "at most 1.3 x floor", "no"},
		{mostTimes(1.3, ofFloor), 1, 0, "at most 1.3 x floor", ""},
		{leastTimes(0.75, ofFloor), 750, 1000, "at least 0.75 x floor", "yes"},
		{leastTimes(0.75, ofFloor), 749, 1000, "at least 0.75 x floor", "no"},
		{atMost(60), 60, 1, "at most 60", "yes"},
		{atMost(60), 61, 1, "at most 60", "no"},
		{atLeast(20000), 20000, 0, "at least 20,000", "yes"},
		{goal{}, 1, 1, "", ""},
	} {
		if text, met := c.goal.String(), c.goal.met(c.podd, c.floor); text != c.text || met != c.met {
			t.Errorf("%v of %v and %v: %q, %q; want %q, %q", c.goal, c.podd, c.floor, text, met, c.text, c.met)
		}
	}
}

func TestPrint(t *testing.T) {
	var r results
	podd, floor := &subject{kind: poddKind}, &subject{kind: floorKind}
	for _, v := range []float64{3, 1, 2} {
		r.add(rowStepWall, podd, v)
	}
	for _, v := range []float64{4, 1} {
		r.add(rowStepWall, floor, v)
	}
	r.add(rowsBwrap.wall, podd, 3)
	r.add(rowTurn, podd, 3)
	r.add(rowTurn, &subject{kind: ownKind}, 2)
	r.note("a %s", "note")
	var out strings.Builder
	r.show(&out)
	want := `| measure | podd | floor | own-SSE floor | ratio | goal | met |
|---|---|---|---|---|---|---|
| one tool step, ms | 2 | 2.5 |  | 0.80 | at most 1.3 x floor | yes |
| one tool step in bwrap, ms | 3 |  |  | 1.50 | at most 3 x unsandboxed | yes |
| warm turn without a tool, ms | 3 |  | 2 | 1.50 | at most 2 x own-SSE floor | yes |

a note
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.0123: "0.012", 0.25: "0.25", 1: "1", 1.234: "1.23", 12.34: "12.3", 20: "20", 120: "120", 999.6: "1000",
		1000: "1,000", 12345.6: "12,346", 1234567: "1,234,567",
	} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}
