package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		writeProgram(w.t, filepath.Join(dir, name), "#!/bin/sh\nls -l \"$1\" > "+opened+"; echo opener runs >&2; exit 5\n")
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

// A picture is a line in the view, and opens in the system's program, from a file that goes with the view.
func TestAttachOpensPictures(t *testing.T) {
	w := pictured(t)
	env, opened := w.opener()
	p, typed := w.onTerminalWith(env, "attach", "p")
	p.out.await(t, "[picture shot.png, PNG 300×200, ")
	p.out.await(t, "podctl image saves it")
	typed("\x1bo")
	p.out.await(t, "opener runs")
	if err := os.Remove(opened); err != nil {
		t.Fatal(err)
	}
	typed("/open shot.png\r")
	// The view need not show that it opens the picture: the opener may end before the next frame.
	for said := ""; !strings.HasSuffix(said, ".png\n"); time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(opened)
		said = string(text)
	}
	typed("\x04")
	if code := p.wait(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	openedAndGone(t, opened)
}
