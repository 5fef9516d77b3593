package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// pictured is a world whose pod p has a picture of 300x200 pixels in its log.
func pictured(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, scripted.Answers(scripted.Say(scripted.Text("Seen."))))
	w.podctl("create", "p").run(0)
	w.podctl("submit", "-p", "p", "-f", "--image", w.file("shot.png", grayPicture(t)), "look").run(0)
	return w
}

// grayPicture is a PNG of 300x200 pixels.
func grayPicture(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 300, 200))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// opener puts a program in place of the system's opener. It notes what it is to open.
func (w *world) opener() (env []string, opened string) {
	w.t.Helper()
	dir := w.t.TempDir()
	opened = filepath.Join(dir, "opened")
	for _, name := range []string{"xdg-open", "open"} {
		script := "#!/bin/sh\nls -l \"$1\" > " + opened + "; echo opener runs >&2; exit 5\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			w.t.Fatal(err)
		}
	}
	return []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "DISPLAY=:0"}, opened
}

// openedAndGone checks that a private file was opened that is gone by now.
func openedAndGone(t *testing.T, opened string) {
	t.Helper()
	said, err := os.ReadFile(opened)
	fields := strings.Fields(string(said))
	if err != nil || len(fields) < 9 || fields[0] != "-rw-------" || !strings.HasSuffix(fields[8], ".png") {
		t.Fatalf("it opened %q, %v", said, err)
	}
	if _, err := os.Stat(filepath.Dir(fields[8])); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

// attach asks a terminal whether it draws pictures, sends it those of the log, and takes them back.
// One opens in the system's program, from a file that goes with the view.
func TestAttachDrawsPictures(t *testing.T) {
	w := pictured(t)
	env, opened := w.opener()
	p, typed := w.onTerminalWith(append(env, "TMUX="), "attach", "p")
	expect := func(keys string, want ...string) {
		t.Helper()
		typed(keys)
		for _, text := range want {
			p.out.await(t, text)
		}
	}
	expect("", "\x1b[>q", "[picture shot.png, PNG 300×200, ")
	expect("\x1bP>|ghostty 1.2.3\x1b\\", "\x1b_Gi=31,")
	expect("\x1b_Gi=31;OK\x1b\\", "\x1b_Ga=t,f=100,", "a=p,U=1,", "c=30,r=10,q=1", "\U0010eeee\u034a\u036f")
	expect("\x1bo", "opener runs")
	typed("\x04")
	if code := p.wait(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	shown := p.out.String()
	if gone, given := strings.LastIndex(shown, "a=d,d=I,"), strings.LastIndex(shown, "\x1b[?1049l"); gone < 0 || gone > given {
		t.Errorf("the picture stays in the terminal: %d, %d", gone, given)
	}
	openedAndGone(t, opened)
}

// Without a terminal that draws them pictures are lines, and open all the same.
func TestPlainOpensPictures(t *testing.T) {
	w := pictured(t)
	env, opened := w.opener()
	p, typed := w.onTerminalWith(append(env, "NO_COLOR=1"), "attach", "--plain", "p")
	p.out.await(t, "[picture shot.png, PNG 300×200, ")
	typed("/open shot.png\n")
	p.out.await(t, "opening [picture shot.png")
	p.out.await(t, "opener runs")
	typed("\x04")
	if code := p.wait(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	if strings.Contains(p.out.String(), "\x1b_G") {
		t.Error("the terminal got a picture")
	}
	openedAndGone(t, opened)
}
