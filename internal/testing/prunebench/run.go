package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"time"

	"podd/pkg/fold"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

const usage = `usage: go run ./internal/testing/prunebench [flags] FILE...

Replays recorded sessions and prints, for each file, one JSON line for each pruning
mode of podd (off, turns and economic) and for each rule of other agents. Costs and
tokens are per cent of what off takes, misses per cent of the model calls, intervals
of 95 per cent.

`

// run is the command; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		printUsage(stdout)
		return exitDone
	case err != nil:
		printf(stderr, "%v; -h lists the flags", err)
		return exitUsage
	}
	traces, err := readTraces(o.files)
	if err != nil {
		printf(stderr, "%v", err)
		return exitFailed
	}
	var lines []line
	for _, tr := range traces {
		more, err := compare(tr, o.terms)
		if err != nil {
			printf(stderr, "%v", err)
			return exitFailed
		}
		lines = append(lines, more...)
	}
	write := writeJSON
	if o.table {
		write = writeTable
	}
	if err := write(stdout, lines); err != nil {
		printf(stderr, "write the result: %v", err)
		return exitFailed
	}
	return exitDone
}

func writeJSON(w io.Writer, lines []line) error {
	out := json.NewEncoder(w)
	for _, l := range lines {
		if err := out.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// writeTable writes a table in Markdown.
func writeTable(w io.Writer, lines []line) error {
	text := "| trace | policy | cost | 95 % | missed | 95 % | of their tokens | prunes |\n|---|---|---|---|---|---|---|---|\n"
	for _, l := range lines {
		text += fmt.Sprintf("| %s | %s | %.2f %% | %.1f to %.1f | %.2f %% | %.2f to %.2f | %.2f %% | %d |\n",
			l.Trace, l.Policy, l.CostPct, l.Cost95[0], l.Cost95[1], l.MissPct, l.Miss95[0], l.Miss95[1], l.MissTokensPct, l.Events)
	}
	_, err := io.WriteString(w, text)
	return err
}

func printf(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, "prunebench: "+format+"\n", args...)
}

// options are the values of the command line.
type options struct {
	terms terms
	// table asks for a table in Markdown instead of JSON.
	table bool
	files []string
}

// terms are the conditions of a replay.
type terms struct {
	price fold.Price
	cache fold.CacheMode
	// single treats each window as one user turn.
	single bool
}

func newFlags(o *options) *flag.FlagSet {
	f := flag.NewFlagSet("prunebench", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	o.terms = terms{price: fold.DefaultPrice(), cache: fold.CacheEnds}
	f.Float64Var(&o.terms.price.Cached, "r", o.terms.price.Cached, "price of cached input; uncached input is 1")
	f.Float64Var(&o.terms.price.Write, "w", o.terms.price.Write, "price of newly written input")
	f.Var((*lifetime)(&o.terms.price.TTL), "ttl", "`time` for which an idle cache lasts: seconds, or as in 30m")
	f.Func("cache", "what the economic mode expects to stay cached after a prune: `ends`, lcp or prefix (default ends)", func(s string) error {
		o.terms.cache = fold.CacheMode(s)
		switch o.terms.cache {
		case fold.CacheEnds, fold.CacheLCP, fold.CachePrefix:
			return nil
		}
		return errors.New("use ends, lcp or prefix")
	})
	f.BoolVar(&o.table, "table", false, "print a table in Markdown")
	f.BoolVar(&o.terms.single, "single", false, "take each window as one user turn")
	return f
}

// parse accepts flags before, between and after the files.
func parse(args []string) (options, error) {
	var o options
	f := newFlags(&o)
	for {
		if err := f.Parse(args); err != nil {
			return o, err
		}
		stopped := len(args) > f.NArg() && args[len(args)-f.NArg()-1] == "--"
		args = f.Args()
		if len(args) == 0 || stopped {
			o.files = append(o.files, args...)
			break
		}
		o.files = append(o.files, args[0])
		args = args[1:]
	}
	if len(o.files) == 0 {
		return o, errors.New("no trace file is named")
	}
	return o, o.terms.price.Check()
}

func printUsage(w io.Writer) {
	f := newFlags(new(options))
	f.SetOutput(w)
	_, _ = io.WriteString(w, usage)
	f.PrintDefaults()
}

// lifetime is a duration that may be written as plain seconds.
type lifetime time.Duration

// String is the duration as Go writes it.
func (l *lifetime) String() string { return time.Duration(*l).String() }

// Set reads seconds or a duration.
func (l *lifetime) Set(s string) error {
	if seconds, err := strconv.ParseFloat(s, 64); err == nil {
		s = strconv.FormatFloat(seconds, 'f', -1, 64) + "s"
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return errors.New("use seconds, or a duration as in 30m")
	}
	*l = lifetime(d)
	return nil
}
