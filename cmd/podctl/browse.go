package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"podd/internal/sanitize"
)

// browse opens an address with $BROWSER, or with the system's browser. A failure is no reason
// to give up: the address is on the screen.
func (p *program) browse(ctx context.Context, address string) {
	// A server may have chosen the address, and a browser's command might read another form
	// as an option or a file.
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		fmt.Fprintln(p.stderr, "the address is not one of the web: podctl does not open it")
		return
	}
	name := p.env("BROWSER")
	switch {
	case name != "":
	case runtime.GOOS == "darwin":
		name = "open"
	default:
		name = "xdg-open"
	}
	cmd := exec.CommandContext(ctx, name, address)
	cmd.WaitDelay = time.Second // A browser that goes on may keep the output open.
	if text, err := cmd.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		fmt.Fprintf(p.stderr, "! cannot open a browser with %s (%v%s): open the address yourself\n", sanitize.Line(name), err, sanitize.Line(string(text)))
	}
}
