package shell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"podd/internal/shell"
)

// A command can make its output longer than can be read. What it did not write is
// counted, and the ends are shown; the call ends as soon as the command does.
func TestShellOutputMadeLong(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux distinguishes holes from data")
	}
	b := newBench(t, nil)
	// It would take hours to read.
	out := b.call("shell", object("command", "echo first; for i in 1 2 3; do truncate -s +5000G /dev/stdout || exit; echo $i; done; echo last"))
	if out.IsError || out.Cut == nil || out.Cut.TotalBytes < 15000<<30 || out.Cut.TotalLines != 5 || out.Cut.SpoolPath != "" {
		t.Fatalf("%s, %+v", out.Summary, out.Cut)
	}
	if !strings.HasPrefix(out.Content, "first\n") || !strings.HasSuffix(out.Content, "3\nlast\n") {
		t.Errorf("it is shown as %q", out.Content)
	}
	if left := b.spooled(); len(left) > 0 {
		t.Errorf("spool files remain: %v", left)
	}
}

// What a command reserves without writing it counts, and its disk space is free again.
func TestShellOutputReserved(t *testing.T) {
	if _, err := exec.LookPath("fallocate"); err != nil || runtime.GOOS != "linux" {
		t.Skip("only Linux distinguishes reserved space from data")
	}
	b := newBench(t, nil)
	out := b.call("shell", object("command", "fallocate -l 2G /proc/self/fd/1 || exit; echo last"))
	if strings.Contains(out.Content, "fallocate failed") {
		t.Skip(out.Content)
	}
	if out.IsError || out.Cut == nil || out.Cut.TotalBytes < 2<<30-1000 || !strings.HasSuffix(out.Content, "last\n") {
		t.Errorf("%s, %+v", out.Summary, out.Cut)
	}
}

// A process that left the tree may write without end: reading its output still ends.
func TestCaptureDrainsABoundedPart(t *testing.T) {
	const quota, size = 1 << 20, 100 << 20
	file, err := os.OpenFile(filepath.Join(t.TempDir(), "out"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, text := range []string{"$ x\n", strings.Repeat("\n", size-4), "end\n"} {
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	total, lines, dropped, tail, err := shell.Drained(file, "$ x\n", quota, 1000)
	if err != nil || total != size || !dropped || !strings.HasSuffix(tail, "\nend\n") {
		t.Errorf("%d bytes, dropped %v, at the end %q, %v", total, dropped, tail[max(0, len(tail)-8):], err)
	}
	if lines < quota || lines > size/2+size/4 {
		t.Errorf("it read %d lines", lines)
	}
}
