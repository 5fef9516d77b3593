package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"rsc.io/qr"

	"podd/internal/testing/certs"
	"podd/internal/web/webtest"
	"podd/pkg/llm/scripted"
)

// modules are the dark and light fields of a drawn QR code, true for dark.
func modules(drawn string) (rows [][]bool) {
	for line := range strings.SplitSeq(drawn, "\n") {
		line, isCode := strings.CutPrefix(strings.TrimSuffix(line, "\r"), blackOnWhite)
		if line = strings.TrimSuffix(line, usualColours); !isCode {
			continue
		}
		var above, below []bool
		for _, r := range line {
			above, below = append(above, r == '█' || r == '▀'), append(below, r == '█' || r == '▄')
		}
		rows = append(rows, above, below)
	}
	return rows
}

// checkQR compares what is drawn with the code of a text.
func checkQR(t *testing.T, drawn, text string) {
	t.Helper()
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	rows := modules(drawn)
	if len(rows) < code.Size+2*quietZone {
		t.Fatalf("%d rows are drawn of %d:\n%s", len(rows), code.Size+2*quietZone, drawn)
	}
	for y, row := range rows {
		if len(row) != code.Size+2*quietZone {
			t.Fatalf("row %d has %d columns", y, len(row))
		}
		for x, dark := range row {
			if want := code.Black(x-quietZone, y-quietZone); dark != want {
				t.Fatalf("the module %d, %d is drawn dark: %v", x, y, dark)
			}
		}
	}
}

// startWeb runs podd web beside the world's podd until the test ends, and returns what it says.
func (w *world) startWeb(args ...string) *watched {
	w.t.Helper()
	cmd := exec.Command(poddPath, append([]string{"web"}, args...)...)
	ended := make(chan struct{})
	said := &watched{done: ended}
	cmd.Env, cmd.Dir, cmd.Stderr = w.env, w.dir, said
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	endLate(cmd.Process)
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
	})
	said.await(w.t, "confined")
	for {
		// It connects to podd a moment later.
		if out, _ := w.podctl("web", "status").run(0); strings.Contains(out, "page: http") {
			return said
		}
	}
}

// pairs lets the browser of a page in with a code that podctl shows, to the end of podctl.
func pairs(t *testing.T, page *webtest.Page, p *podctlProcess, typed func(string), code string) {
	t.Helper()
	b := webtest.New(page)
	stream := b.Ask(code)
	if _, last := stream.Next(); last {
		t.Fatal("the code is refused")
	}
	if a := b.Reveal(code); a.Status != http.StatusOK {
		t.Fatalf("the nonce is refused: %d %s", a.Status, a.Body)
	}
	p.out.await(t, "Does the browser show the same number?")
	typed("y\r")
	m, _ := stream.Next()
	var paired struct{ Device struct{ ID string } }
	if err := json.Unmarshal(m.Body, &paired); err != nil || paired.Device.ID == "" {
		t.Fatalf("the browser got %s, %v", m.Body, err)
	}
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d: %s", code, p.out.String())
	}
}

// writeProgram writes a program. No child that another test starts meanwhile has the file open,
// which the system would not run.
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// web open opens this machine's browser at the page, and web revoke ends what it may do.
func TestOpenAndRevoke(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say() })
	said := w.startWeb("--listen", "127.0.0.1:0")
	origin := strings.TrimSuffix(regexp.MustCompile(`http://\S+,`).FindString(said.String()), ",")
	dir := t.TempDir()
	opened := filepath.Join(dir, "opened")
	for _, name := range []string{"xdg-open", "open"} {
		writeProgram(t, filepath.Join(dir, name), "#!/bin/sh\necho \"$1\" > "+opened+"\n")
	}
	p, typed := w.onTerminalWith([]string{"PATH=" + dir + ":" + os.Getenv("PATH")}, "web", "open", "--scope", "control")
	p.out.await(t, "and type the code ")
	page := &webtest.Page{T: t, Origin: origin, Client: new(http.Transport)}
	t.Cleanup(page.Client.CloseIdleConnections)
	code := regexp.MustCompile(`and type the code ([A-Z]{10});`).FindStringSubmatch(p.out.String())[1]
	pairs(t, page, p, typed, code)
	if address, err := os.ReadFile(opened); err != nil || strings.TrimSpace(string(address)) != origin+"/#pair="+code {
		t.Errorf("it opened %q, %v", address, err)
	}
	if out, _ := w.podctl("web", "devices").run(0); !regexp.MustCompile(`test +control +all +`).MatchString(out) {
		t.Errorf("the devices are %s", out)
	}
	if out, _ := w.podctl("web", "revoke", "test").run(0); out != "test is revoked\n" {
		t.Errorf("web revoke says %s", out)
	}
	if _, stderr := w.podctl("web", "devices").run(0); !strings.Contains(stderr, "no browser is paired") {
		t.Errorf("web devices says %s", stderr)
	}
}

// A person pairs a phone at a terminal: it shows the page's address as a QR code, and the
// number of the phone.
func TestPairAtATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say() })
	w.podctl("create", "mine").run(0)
	const origin = "https://desk.example:7633"
	files := certs.New(t).Node("desk.example")
	said := w.startWeb("--listen", "127.0.0.1:0", "--cert", files[0], "--key", files[1], "--origin", origin)
	address := regexp.MustCompile(` at (\S+),`).FindStringSubmatch(said.String())[1]
	root, err := os.ReadFile(files[2])
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(root)
	page := &webtest.Page{T: t, Origin: origin, Client: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		},
	}}
	t.Cleanup(page.Client.CloseIdleConnections)
	p, typed := w.onTerminal("web", "pair", "--scope", "answer", "--pod", "mine")
	p.out.await(t, "and type the code ")
	code := regexp.MustCompile(`and type the code ([A-Z]{10});`).FindStringSubmatch(p.out.String())
	if code == nil {
		t.Fatalf("no code is shown: %s", p.out.String())
	}
	pairs(t, page, p, typed, code[1])
	checkQR(t, p.out.String(), origin+"/#pair="+code[1])
	if !strings.Contains(p.out.String(), "with the scope answer and the pods: mine") {
		t.Errorf("podctl says %s", p.out.String())
	}
	if out, _ := w.podctl("web", "devices").run(0); !regexp.MustCompile(`test +answer +mine +`).MatchString(out) {
		t.Errorf("the devices are %s", out)
	}
	// A pair of pods that do not exist is refused before a code is shown.
	p, _ = w.onTerminal("web", "pair", "--pod", "nobody")
	if code := p.wait(); code != exitNotFound || strings.Contains(p.out.String(), "type the code") {
		t.Errorf("exit code %d: %s", code, p.out.String())
	}
}

// No code is drawn for this machine's own browser: its address leads nowhere else. That of
// another machine needs its port here.
func TestPairOnLoopback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say() })
	said := w.startWeb("--listen", "127.0.0.1:0")
	p, _ := w.onTerminal("web", "pair")
	p.out.await(t, "it expires at")
	_ = p.cmd.Process.Signal(os.Interrupt)
	p.wait()
	if strings.Contains(p.out.String(), blackOnWhite) {
		t.Errorf("it shows %s", p.out.String())
	}
	// The other machine is this one, so the port is taken.
	writeProgram(t, filepath.Join(w.dir, "ssh"), "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift 2\nunset PODD_HOST\nexec \"$@\"\n")
	w.env = append(w.env, "PATH="+w.dir+string(os.PathListSeparator)+os.Getenv("PATH"), "PODD_HOST=ssh://build1")
	p, _ = w.onTerminal("web", "pair")
	address := regexp.MustCompile(`http://(\S+),`).FindStringSubmatch(said.String())[1]
	if code := p.wait(); code != exitFailed || !strings.Contains(p.out.String(), "the page of ssh://build1 needs "+address+" on this machine, which is taken") {
		t.Errorf("exit code %d: %s", code, p.out.String())
	}
}
