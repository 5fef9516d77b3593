package main

import (
	"bufio"
	"io"
	"text/tabwriter"
)

// table aligns the cells of its lines, which end with tabs. Its writer gets it in large
// pieces: a tabwriter writes each cell by itself.
type table struct {
	*tabwriter.Writer
	out *bufio.Writer
}

func newTable(w io.Writer) table {
	out := bufio.NewWriter(w)
	return table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), out}
}

// Flush writes the lines.
func (t table) Flush() error {
	if err := t.Writer.Flush(); err != nil {
		return err
	}
	return t.out.Flush()
}
