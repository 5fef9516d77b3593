package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"podd/internal/guard/policy"
	"podd/pkg/scopefs"
	"podd/pkg/worker"
)

// executed returns the files of a scope that a command line is known to execute, as they
// are now.
func executed(fs *scopefs.FS) func(line string) []worker.Executed {
	return func(line string) []worker.Executed {
		var all []worker.Executed
		for _, names := range policy.Executed(line) {
			for _, name := range names {
				if e, ok := execution(fs, name); ok {
					all = append(all, e)
					break
				}
			}
		}
		return all
	}
}

// execution is one executed file; false if it is not a file of the scope.
func execution(fs *scopefs.FS, name string) (worker.Executed, bool) {
	target := fs.Target(name)
	file, info, err := fs.Bound([]scopefs.Target{target}).Open(name)
	if err != nil {
		return worker.Executed{}, false
	}
	defer file.Close()
	sum, count := sha256.New(), &textCounter{}
	if _, err := io.Copy(io.MultiWriter(sum, count), io.LimitReader(file, scopefs.MaxFileBytes)); err != nil {
		return worker.Executed{}, false
	}
	e := worker.Executed{Path: target.Named(), Sum: hex.EncodeToString(sum.Sum(nil)), Size: fmt.Sprintf("%d lines", count.lines)}
	if leads := target.Leads(); len(leads) > 0 {
		e.Leads = leads[0]
	}
	switch {
	case info.Size() > scopefs.MaxFileBytes || count.binary:
		e.Size = fmt.Sprintf("%d bytes", info.Size())
	case count.lines == 1:
		e.Size = "1 line"
	}
	return e, true
}

// textCounter counts the lines of a text.
type textCounter struct {
	lines  int
	binary bool
}

func (c *textCounter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte("\n"))
	c.binary = c.binary || bytes.IndexByte(p, 0) >= 0
	return len(p), nil
}
