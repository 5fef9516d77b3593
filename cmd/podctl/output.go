package main

import (
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/proto"

	"podd/internal/sanitize"
	"podd/pkg/wire"
)

// output is the format of what a command prints.
type output string

const (
	outputText output = "text"
	outputJSON output = "json"
)

// String is the flag's value.
func (o *output) String() string { return string(*o) }

// Type names the value in the help.
func (o *output) Type() string { return "FORM" }

// Set takes the flag's value.
func (o *output) Set(value string) error {
	switch output(value) {
	case outputText, outputJSON:
		*o = output(value)
		return nil
	}
	return fmt.Errorf("%q is not an output format: use text or json", value)
}

// print writes a message in the requested format: as a JSON object in one line, or with
// the function text.
func (p *program) print(m proto.Message, text func(io.Writer) error) error {
	if p.output == outputJSON {
		return p.printJSON(m)
	}
	return text(p.stdout)
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

// stamp is a time for people.
func stamp(t time.Time) string { return t.Local().Format(time.DateTime) }
