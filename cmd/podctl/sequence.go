package main

import (
	"fmt"
	"strconv"
	"strings"
)

// parseSequence reads the number of an entry, a call or an alert, also as podctl shows
// it: 120, #120. It is 0 or more.
func parseSequence(text string) (seq int64, ok bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 10, 63)
	return int64(n), err == nil //nolint:gosec // 63 bits
}

// sequence is a flag's sequence.
type sequence int64

// errSequence is why a flag's value is refused; flagError names the flag.
type errSequence string

// Error is a sentence without the flag.
func (e errSequence) Error() string {
	return fmt.Sprintf("%q is not a number: write 120 or #120", string(e))
}

// Set takes the flag's value.
func (s *sequence) Set(value string) error {
	seq, ok := parseSequence(value)
	if !ok {
		return errSequence(value)
	}
	*s = sequence(seq)
	return nil
}

// String is the flag's value.
func (s *sequence) String() string { return strconv.FormatInt(int64(*s), 10) }

// Type names the value in the help.
func (s *sequence) Type() string { return "SEQ" }
