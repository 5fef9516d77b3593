package shell

import "os"

// Outcome is outcome for tests.
var Outcome = outcome

// Drained follows a file that is already written, to its end.
func Drained(file *os.File, header string, quota int64, keep int) (total, lines int64, dropped bool, tail string, err error) {
	c := newCapture(file, header, quota, 0, keep, nil)
	err = c.drain()
	return c.total, c.lines(), c.dropped, string(lastOf(c.tail, keep)), err
}

// WithoutSecrets is withoutSecrets for tests.
var WithoutSecrets = withoutSecrets
