package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/protobuf/proto"

	"podd/internal/sanitize"
	"podd/pkg/wire"
)

// The formats of what a command prints.
const (
	outputText = "text"
	outputJSON = "json"
)

// word is a flag that takes one of some words.
type word struct {
	to *string
	// kind names the value in the help, says why another WORD is refused.
	kind, says string
	words      []string
}

// String is the flag's value.
func (w word) String() string { return *w.to }

// Type names the value in the help.
func (w word) Type() string { return w.kind }

// Set takes the flag's value.
func (w word) Set(value string) error {
	if !slices.Contains(w.words, value) {
		return errors.New(strings.ReplaceAll(w.says, "WORD", strconv.Quote(value)))
	}
	*w.to = value
	return nil
}

// print writes a message in the requested format: as a JSON object in one line, or with
// the function text.
func (p *program) print(m proto.Message, text func(io.Writer) error) error {
	if p.output == outputJSON {
		return p.printJSON(m)
	}
	return text(p.stdout)
}

// answer prints what podd answered, or is its error.
func (p *program) answer(m proto.Message, err error, text func(io.Writer) error) error {
	if err != nil {
		return err
	}
	return p.print(m, text)
}

// warn prints what podd warns about.
func (p *program) warn(warnings []string) {
	for _, text := range warnings {
		fmt.Fprintf(p.stderr, "! %s\n", sanitize.Line(text))
	}
}

// printEach prints messages: as a JSON object in a line each, or all with the function text.
func printEach[M proto.Message](p *program, all []M, text func() error) error {
	if p.output == outputText {
		return text()
	}
	for _, m := range all {
		if err := p.printJSON(m); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) printJSON(m proto.Message) error {
	line, err := wire.JSON(m)
	if err != nil {
		return fmt.Errorf("cannot print the answer as JSON: %w", err)
	}
	_, err = fmt.Fprintln(p.stdout, sanitize.JSON(string(line)))
	return err
}

// line prints one line of text.
func line(format string, args ...any) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := fmt.Fprintf(w, format+"\n", args...)
		return err
	}
}

// facts are keys and values, a line each. An empty value leaves its line out.
type facts [][2]string

// writeTo writes them, made safe.
func (f facts) writeTo(w io.Writer) error {
	for _, fact := range f {
		if fact[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", fact[0], sanitize.Line(fact[1])); err != nil {
			return err
		}
	}
	return nil
}

// when is a text if yes, and empty otherwise: a fact without a line.
func when(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}

// stamp is a time for people.
func stamp(t time.Time) string { return t.Local().Format(time.DateTime) }

// list prints messages: as JSON a line each, as text a row each below a heading. It says none on standard error if
// there are no messages.
func list[M proto.Message](p *program, all []M, none, heading string, cells func(M) []any) error {
	return printEach(p, all, func() error {
		if len(all) == 0 {
			_, err := fmt.Fprintln(p.stderr, none)
			return err
		}
		t := table{heading}
		for _, m := range all {
			t.row(cells(m)...)
		}
		return t.writeTo(p.stdout)
	})
}

// table is lines with tabs between their cells, which it aligns.
type table []string

// row adds a line, made safe.
func (t *table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = sanitize.Line(fmt.Sprint(cell))
	}
	*t = append(*t, strings.Join(texts, "\t"))
}

// writeTo writes the table in large pieces: a tabwriter writes each cell by itself.
func (t table) writeTo(w io.Writer) error {
	out := bufio.NewWriter(w)
	aligned := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, line := range t {
		fmt.Fprintln(aligned, line)
	}
	return cmp.Or(aligned.Flush(), out.Flush())
}
