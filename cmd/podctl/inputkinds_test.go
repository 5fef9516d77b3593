package main

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// Standard input that is a socket, as Node gives it, is read for - alone.
func TestInputFromASocket(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	w.podctl("create", "p").run(0)
	ask := func(want int, args ...string) (stderr string) {
		t.Helper()
		ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		far, near := os.NewFile(uintptr(ends[0]), "far"), os.NewFile(uintptr(ends[1]), "near")
		defer near.Close()
		if _, err := far.WriteString("from the socket\n"); err != nil {
			t.Fatal(err)
		}
		_ = far.Close()
		p := w.podctl(args...)
		p.cmd.Stdin = near
		_, stderr = p.run(want)
		return stderr
	}
	ask(0, "submit", "-f", "-p", "p", "first", "-")
	ask(0, "submit", "-f", "-p", "p", "second")
	if errs := ask(2, "submit", "-p", "p"); !strings.Contains(errs, "the prompt is empty: give TEXT, pipe it in, or use - to type it") {
		t.Errorf("without TEXT podctl says %q", errs)
	}
	log, _ := w.podctl("tail", "p", "--after", "0", "-o", "json").run(0)
	if !strings.Contains(log, `"text":"first\n\n<stdin lines=\"1\">\nfrom the socket\n</stdin>\n"`) || strings.Count(log, "from the socket</") != 0 {
		t.Errorf("the log is\n%s", log)
	}
	if strings.Contains(log, `"text":"second\n`) {
		t.Errorf("a socket was read without -:\n%s", log)
	}
}

// Standard input that is a terminal is read for - alone, up to ^D.
func TestInputFromATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	w.podctl("create", "p").run(0)
	typing := func(want int, typed string, args ...string) {
		t.Helper()
		term, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer term.Close()
		defer tty.Close()
		if _, err := io.WriteString(term, typed); err != nil {
			t.Fatal(err)
		}
		p := w.podctl(args...)
		p.cmd.Stdin = tty
		p.run(want)
	}
	typing(0, "typed here\n\x04", "submit", "-f", "-p", "p", "-")
	typing(0, "meant for the shell\n", "submit", "-f", "-p", "p", "alone")
	typing(2, "", "submit", "-p", "p")
	log, _ := w.podctl("tail", "p", "--after", "0", "-o", "json").run(0)
	if !strings.Contains(log, `"text":"typed here"`) || !strings.Contains(log, `"text":"alone"`) || strings.Contains(log, "meant for") {
		t.Errorf("the log is\n%s", log)
	}
}
