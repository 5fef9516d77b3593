package builtin

import "os"

// Outcome is outcome for tests.
var Outcome = outcome

// Drained follows a file that is already written, to its end.
func Drained(file *os.File, header string, quota int64, keep int) (total, lines int64, dropped bool, tail string, err error) {
	c := openCapture(file, header, quota, keep, nil)
	err = c.drain()
	return c.total, c.lines(), c.dropped, string(lastOf(c.tail, keep)), err
}

// AskFor makes a mode the requested one afterwards.
func (s *Sandbox) AskFor(mode string) { s.box.Config.Mode = mode }

// WithoutSecrets is withoutSecrets for tests.
var WithoutSecrets = withoutSecrets
