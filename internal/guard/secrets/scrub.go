package secrets

import (
	"errors"
	"io"
	"os"
	"strings"
)

// scrubChunk is how much of a file is searched at once, and scrubOverlap how much of that
// again with the next part: the longest secret that is certainly found.
const (
	scrubChunk   = 1 << 20
	scrubOverlap = 16 << 10
)

// ScrubFile removes the secrets from a file, in place and without changing its size: it
// overwrites each with [Mark], shortened or padded with "*". It is for text that a
// program wrote itself.
func (s *Set) ScrubFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(s.scrub(file), file.Close())
}

func (s *Set) scrub(file *os.File) error {
	buffer := make([]byte, scrubChunk)
	for offset := int64(0); ; {
		n, err := file.ReadAt(buffer, offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		last := errors.Is(err, io.EOF)
		for _, sp := range s.find(string(buffer[:n])) {
			if sp.open && !last && sp.from > n-scrubOverlap {
				continue // The next round has all of it.
			}
			if _, err := file.WriteAt(filler(sp.end-sp.start), offset+int64(sp.start)); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
		offset += int64(n - scrubOverlap)
	}
}

// filler is n bytes in place of a secret.
func filler(n int) []byte {
	if n <= len(Mark) {
		return []byte(strings.Repeat("*", n))
	}
	return []byte(Mark + strings.Repeat("*", n-len(Mark)))
}
