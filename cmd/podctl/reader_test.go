package main

import (
	"os"
	"syscall"
	"testing"
)

// A verb that follows ends with the reader of its output, though it has nothing more to write.
func TestFollowersEndWithTheirReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	w.podctl("create", "p").run(0)
	w.podctl("submit", "-p", "p", "-f", "hello").run(0)
	for _, args := range [][]string{{"tail", "-f", "p"}, {"list", "-w"}, {"stats", "-w", "p"}} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p := w.podctl(args...)
		p.cmd.Stdout = write
		p.start()
		_ = write.Close()
		if _, err := read.Read(make([]byte, 1)); err != nil {
			t.Errorf("%q wrote nothing: %v", args, err)
		}
		_ = read.Close()
		p.wait()
		if status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGPIPE {
			t.Errorf("%q ended with %v: %s", args, p.cmd.ProcessState, p.err.String())
		}
	}
}
