package process_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"podd/internal/commands/process"
)

// A reader that comes after the deadline reads what is in the pipe, and waits for nothing.
func TestReadPipeLate(t *testing.T) {
	for _, written := range []string{"", "last words", strings.Repeat("x", 60<<10)} {
		for _, ended := range []bool{true, false} {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			if _, err := w.WriteString(written); err != nil {
				t.Fatal(err)
			}
			if ended {
				_ = w.Close()
			}
			if err := r.SetReadDeadline(time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			process.ReadPipe(r, func(more []byte) { got.Write(more) })
			if got.String() != written {
				t.Errorf("of %d bytes %d are read", len(written), got.Len())
			}
		}
	}
}
