package crash

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The check of a history finds an order, or says that there is none.
func TestHistory(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	wrote := func(key string, from, until int) write { return write{key, at(from), at(until)} }
	open := func(key string, from int) write { return write{key: key, from: at(from)} }
	read := func(from, until int, keys ...string) reading { return reading{at(from), at(until), keys} }
	for _, c := range []struct {
		name     string
		writes   []write
		readings []reading
		final    []string
		want     string
	}{
		{"in turn", []write{wrote("a", 1, 2), wrote("b", 3, 4)}, []reading{read(2, 3, "a"), read(5, 6, "a", "b")}, []string{"a", "b"}, ""},
		{"at once", []write{wrote("a", 1, 5), wrote("b", 1, 5)}, []reading{read(2, 3), read(3, 4, "b")}, []string{"b", "a"}, ""},
		{"no answer, done", []write{open("a", 1), wrote("b", 3, 4)}, []reading{read(2, 3), read(5, 6, "b"), read(7, 8, "b", "a")}, []string{"b", "a"}, ""},
		{"no answer, not done", []write{open("a", 1), wrote("b", 3, 4)}, []reading{read(5, 6, "b")}, []string{"b"}, ""},
		{"what podd wrote", []write{wrote("a", 1, 2)}, []reading{read(3, 4, "own", "a")}, []string{"own", "a"}, ""},
		{"lost", []write{wrote("a", 1, 2)}, nil, nil, "no order"},
		{"an old reading", []write{wrote("a", 1, 2)}, []reading{read(3, 4)}, []string{"a"}, "no order"},
		{"a reading of what comes later", []write{wrote("a", 3, 4)}, []reading{read(1, 2, "a")}, []string{"a"}, "no order"},
		{"back in time", []write{wrote("a", 1, 9)}, []reading{read(2, 3, "a"), read(4, 5)}, []string{"a"}, "no order"},
		{"a reading of what went away", []write{open("a", 1), wrote("b", 1, 2)}, []reading{read(3, 4, "a")}, []string{"b"}, "not how the log begins"},
		{"swapped", []write{wrote("a", 1, 2), wrote("b", 3, 4)}, nil, []string{"b", "a"}, "no order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := checkHistory(c.writes, c.readings, slices.Clone(c.final))
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("said %q, want %q", got, c.want)
			}
		})
	}
}
