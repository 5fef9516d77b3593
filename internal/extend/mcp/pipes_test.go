package mcp

import (
	"context"
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
	conversing, broken := context.WithCancelCause(t.Context())
	in := input{podd, broken}
	if _, err := in.Write([]byte("{}\n")); err != nil || conversing.Err() != nil {
		t.Fatalf("%v, %v", err, context.Cause(conversing))
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("{}\n")); err == nil || !errors.Is(context.Cause(conversing), errInput) {
		t.Errorf("%v, and the server is said to have %v", err, context.Cause(conversing))
	}
}
