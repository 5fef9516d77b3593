package main

import (
	"bytes"
	"strings"
	"testing"
)

// pieces counts the writes.
type pieces struct {
	bytes.Buffer
	n int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.n++
	return p.Buffer.Write(b)
}

// A table is aligned, and written in fewer pieces than it has lines.
func TestTable(t *testing.T) {
	const lines = 1000
	var out pieces
	var rows table
	for i := range lines {
		rows.row(i, "cell", "last")
	}
	if err := rows.writeTo(&out); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(out.String(), "\n")
	if len(got) != lines+1 || got[0] != "0    cell  last" || got[lines-1] != "999  cell  last" {
		t.Errorf("%d lines, the first %q", len(got)-1, got[0])
	}
	if out.n > lines/10 {
		t.Errorf("%d lines are written in %d pieces", lines, out.n)
	}
}
