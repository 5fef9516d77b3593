package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// window is a part of a recorded session between two compactions: one line of a trace
// file.
type window struct {
	ID    string      `json:"id"`
	Items []traceItem `json:"items"`
	// At has, for each model call, how many items it could see.
	At []int `json:"at"`
	// Gap has, for each call, the seconds since the previous call; -1 if unknown.
	Gap []float64 `json:"gap"`
	// Needs has, for each call, what its answer quotes: lists of results, one of which must
	// be visible.
	Needs [][][]int `json:"needs"`
}

// traceItem is one item of the conversation.
type traceItem struct {
	// Role is s, u, a, c or o: system, user, assistant, tool call, tool result.
	Role   string `json:"r"`
	Tokens int    `json:"t"`
	// Class is the kind of a result.
	Class string `json:"k"`
	// Path numbers the file that was read or written; 0 if no file was.
	Path uint64 `json:"p"`
	// StartsTurn marks a user message that begins a turn.
	StartsTurn bool `json:"u"`
}

// The largest plausible numbers: a billion tokens, and thirty years.
const (
	maxTokens = 1_000_000_000
	maxGap    = 1_000_000_000
)

func (it traceItem) result() bool { return it.Role == "o" }

// trace is a file: a set of windows that are judged together.
type trace struct {
	name    string
	windows []window
}

// readTraces reads all files. Its errors name the file and the line.
func readTraces(files []string) ([]trace, error) {
	var all []trace
	for _, file := range files {
		windows, err := readFile(file)
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		all = append(all, trace{name, windows})
	}
	return all, nil
}

// readFile reads one file, which gzip may have compressed.
func readFile(file string) ([]window, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the trace: %w", err)
	}
	defer func() { _ = f.Close() }()
	var r io.Reader = f
	if filepath.Ext(file) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("cannot read the trace %s: %w", file, err)
		}
	}
	windows, err := readTrace(r)
	if err != nil {
		return nil, fmt.Errorf("%s%w", file, err)
	}
	return windows, nil
}

// readTrace reads lines. Its errors begin with the line, as in ":3: …".
func readTrace(r io.Reader) ([]window, error) {
	var windows []window
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf(": cannot read line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			w, err := parseWindow(line)
			if err != nil {
				return nil, fmt.Errorf(":%d: %w", n, err)
			}
			windows = append(windows, w)
		}
		if err != nil {
			break
		}
	}
	if len(windows) == 0 {
		return nil, errors.New(": the file holds no window")
	}
	return windows, nil
}

func parseWindow(line []byte) (window, error) {
	var w window
	if err := json.Unmarshal(line, &w); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			return w, fmt.Errorf("the field %q cannot be a JSON %s", wrong.Field, wrong.Value)
		}
		return w, fmt.Errorf("the line is not a JSON object: %w", err)
	}
	return w, w.check()
}

// check checks the window against the rules of the format, so that the replay need not.
func (w *window) check() error {
	calls := len(w.At)
	switch {
	case calls == 0:
		return errors.New(`the field "at" is absent or empty; it has one number a model call`)
	case len(w.Gap) != calls:
		return fmt.Errorf(`the field "gap" has %d numbers for %d model calls`, len(w.Gap), calls)
	case len(w.Needs) != calls:
		return fmt.Errorf(`the field "needs" has %d lists for %d model calls`, len(w.Needs), calls)
	}
	for i, it := range w.Items {
		if it.Role == "" || !strings.Contains("suaco", it.Role) || len(it.Role) > 1 {
			return fmt.Errorf(`items[%d]: the role "r" is %q; it is s, u, a, c or o`, i, it.Role)
		}
		if it.Tokens < 0 || it.Tokens > maxTokens {
			return fmt.Errorf(`items[%d]: the size "t" is %d; it must be from 0 to %d`, i, it.Tokens, maxTokens)
		}
	}
	before := 0
	for call, at := range w.At {
		if w.Gap[call] > maxGap {
			return fmt.Errorf("gap[%d] is %v; it must be at most %d seconds", call, w.Gap[call], int64(maxGap))
		}
		if at < before || at > len(w.Items) {
			return fmt.Errorf("at[%d] is %d; it must be from %d, the call before, to %d, all items", call, at, before, len(w.Items))
		}
		before = at
		if err := w.checkNeeds(call); err != nil {
			return err
		}
	}
	return nil
}

func (w *window) checkNeeds(call int) error {
	for n, need := range w.Needs[call] {
		if len(need) == 0 {
			return fmt.Errorf("needs[%d][%d] names no item", call, n)
		}
		for _, i := range need {
			if i < 0 || i >= w.At[call] {
				return fmt.Errorf("needs[%d][%d] names item %d; the call sees %d items", call, n, i, w.At[call])
			}
		}
	}
	return nil
}
