package mcp

import (
	"errors"
	"os"
	"testing"
)

// If a server ends before podd initializes it, the write fails, and its output is not read
// to the end.
func TestWriteToWhatHasEnded(t *testing.T) {
	t.Parallel()
	server, podd, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer podd.Close()
	in := input{podd, newBroken()}
	if _, err := in.Write([]byte("{}\n")); err != nil || in.broken.err != nil {
		t.Fatalf("%v, %v", err, in.broken.err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("{}\n")); err == nil || !errors.Is(in.broken.err, errInput) {
		t.Errorf("%v, and the server is said to have %v", err, in.broken.err)
	}
}
