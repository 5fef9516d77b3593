package attach

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/item"
	"podd/pkg/transcript"
)

// A terminal that draws pictures shows them in the transcript: scrolled, in another size, drawn again, on a screen that another
// program had meanwhile. It has none when the view ends.
func TestPicturesAreDrawn(t *testing.T) {
	for _, forgets := range []bool{false, true} {
		t.Run(fmt.Sprintf("forgets=%v", forgets), func(t *testing.T) {
			editor := filepath.Join(t.TempDir(), "editor")
			if err := os.WriteFile(editor, []byte("#!/bin/sh\nread done < $0.done\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(editor+".done", 0o600); err != nil {
				t.Fatal(err)
			}
			k := &pictureTerminal{t: t, name: "kitty(0.36.4)", forgets: forgets}
			k.view(map[string]string{"EDITOR": editor}, func(a *app) {
				a.feed(item.UserMessage{Text: "what is this?", Images: item.NewImages(pictureOf(300, 200))})
				k.await("[picture 300x200.png, PNG 300×200, 2 KB]", "(0,0)-(30,10) of (30,10) at (2,10)")
				a.feed(item.AssistantMessage{Text: strings.Repeat("a line\n\n", 8)})
				k.await("a line", "(0,5)-(30,10) of (30,10) at (2,-5)")
				k.types("\x1b[5~")
				k.await("› what is this?", "(0,0)-(30,10) of (30,10) at (2,3)")
				k.types("\x1b[1;5F")
				k.await("a line", "(0,5)-(30,10) of (30,10) at (2,-5)")
				k.resize(60, 16)
				k.await("a line")
				k.types("\x1b[5~")
				k.await("[picture", "(0,0)-(24,8) of (24,8) at (2,1)")
				k.forgetAll()
				k.types("\x0c")
				k.await("[picture", "(0,0)-(24,8) of (24,8) at (2,1)")
				k.types("\x07")
				if err := os.WriteFile(editor+".done", []byte("\n"), 0); err != nil { // When the editor reads it.
					t.Fatal(err)
				}
				k.awaitThat("the picture again", func(_ string, pictures []string) bool { return k.given > 0 && len(pictures) == 1 })
			})
		})
	}
}

// Pictures come one after the other, and the view goes on meanwhile. Where one fails, its line remains.
func TestPicturesComeBesideTheView(t *testing.T) {
	k := &pictureTerminal{t: t, name: "ghostty 1.2.3"}
	k.view(nil, func(a *app) {
		gate := make(chan struct{})
		fetch := a.log.gallery.fetch
		a.log.gallery.fetch = func(ctx context.Context, digest string) ([]byte, error) {
			<-gate
			return fetch(ctx, digest)
		}
		broken := pictureOf(40, 40)
		broken.Digest = "broken"
		a.feed(item.UserMessage{Text: "see", Images: item.NewImages(pictureOf(40, 40), broken, pictureOf(10, 10))})
		k.types("hello")
		k.await("> hello")
		close(gate)
		k.await("[picture 10x10.png", "(0,0)-(1,1) of (1,1) at (2,19)", "(0,0)-(4,2) of (4,2) at (2,15)")
		if n := strings.Count(k.text(), "[picture 40x40.png"); n != 2 {
			t.Errorf("%d lines", n)
		}
	})
}

// Where a terminal draws no placeholders, or is not asked, it gets nothing of pictures.
func TestPicturesAreLinesElsewhere(t *testing.T) {
	for name, tt := range map[string]struct {
		terminal string
		env      map[string]string
		asked    []string
	}{
		"old kitty":     {"kitty(0.26.5)", nil, []string{"version"}},
		"another":       {"WezTerm 20240203-110809-5046fc22", nil, []string{"version"}},
		"in tmux":       {"kitty(0.36.4)", map[string]string{"TMUX": "/tmp/tmux-0/default,1,0"}, nil},
		"in screen":     {"kitty(0.36.4)", map[string]string{"TERM": "screen-256color"}, nil},
		"without color": {"kitty(0.36.4)", map[string]string{"NO_COLOR": "1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			k := &pictureTerminal{t: t, name: tt.terminal}
			k.view(tt.env, func(a *app) {
				a.feed(item.ToolCall{CallID: "c", Name: "read_file", Arguments: "{}"},
					item.ToolResult{CallID: "c", Tool: "read_file", Output: item.Output{Summary: "an image", Images: item.NewImages(pictureOf(300, 200))}})
				k.await("    [picture 300x200.png, PNG 300×200, 2 KB]")
			})
			if !slices.Equal(k.asked, tt.asked) || len(k.sent) > 0 || strings.Contains(k.text(), marker) {
				t.Errorf("it was asked %q and got %v", k.asked, k.sent)
			}
		})
	}
}

// A terminal that does not take a picture gets it a few times, and shows its line alone.
func TestPictureIsNotTaken(t *testing.T) {
	k := &pictureTerminal{t: t, name: "kitty(0.36.4)", deaf: true}
	k.view(nil, func(a *app) {
		a.feed(item.UserMessage{Text: "see", Images: item.NewImages(pictureOf(300, 200))})
		k.awaitThat("no picture", func(shown string, _ []string) bool {
			return len(k.sent) == mostTries && strings.Contains(shown, "[picture") && !strings.Contains(shown, marker)
		})
	})
}

// Of many pictures the terminal keeps those that were in sight last; the others come again.
func TestManyPictures(t *testing.T) {
	k := &pictureTerminal{t: t, name: "kitty(0.36.4)"}
	const all = 2 * mostDrawn
	k.view(nil, func(a *app) {
		for i := range all {
			a.feed(item.UserMessage{Text: fmt.Sprintf("prompt %d.", i+1), Images: item.NewImages(pictureOf(10+i, 20))})
		}
		drawn := func(shown string, pictures []string) bool {
			// A line whose picture is below the screen has none.
			lines := strings.Count(shown, "[picture")
			return lines > 0 && len(pictures) >= lines-1 && len(k.images) <= mostDrawn+12
		}
		end := fmt.Sprintf("› prompt %d.", all)
		k.awaitThat("the end", func(shown string, p []string) bool { return strings.Contains(shown, end) && drawn(shown, p) })
		for i := all - 4; i > 0; i -= 4 {
			k.types("\x1b[5~")
			k.awaitThat(fmt.Sprint("prompt ", i), func(shown string, p []string) bool {
				return strings.Contains(shown, fmt.Sprintf("› prompt %d.", i)) && drawn(shown, p)
			})
		}
		k.types("\x1b[1;5F")
		k.awaitThat("the end again", func(shown string, p []string) bool { return strings.Contains(shown, end) && drawn(shown, p) })
	})
	if len(k.sent) <= all {
		t.Errorf("%d were sent", len(k.sent))
	}
}

// A picture opens in the system's program, from a file that is the person's alone and goes with the view.
func TestOpen(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "opened")
	script := "#!/bin/sh\n[ -e " + out + " ] && { echo no viewer here >&2; exit 3; }\nls -l \"$1\" > " + out + ".new; mv " + out + ".new " + out + "\n"
	for _, name := range []string{"xdg-open", "open"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	k := &pictureTerminal{t: t, name: "xterm"}
	var g *gallery
	k.view(map[string]string{"DISPLAY": ":0"}, func(a *app) {
		g = a.log.gallery
		k.types("\x1bo")
		k.await("the transcript has no picture")
		a.feed(item.UserMessage{Text: "see", Images: item.NewImages(pictureOf(30, 20), pictureOf(40, 20))})
		k.await("[picture 40x20.png")
		k.types("\x1bo")
		k.await("opening [picture 40x20.png")
		k.awaitThat("the file", func(string, []string) bool { _, err := os.Stat(out); return err == nil })
		k.types("/open 30x20.png\r")
		k.await("cannot open the picture: no viewer here")
		k.types("/open 3\r")
		k.await("the transcript has 2 pictures")
		k.types("/open other\r")
		k.await(`no picture is named "other"; Tab lists them`)
	})
	said, _ := os.ReadFile(out)
	fields := strings.Fields(string(said))
	if len(fields) < 9 || fields[0] != "-rw-------" || !strings.HasSuffix(fields[8], "/40x20.png") {
		t.Fatalf("it opened %q", said)
	}
	g.close()
	if _, err := os.Stat(filepath.Dir(fields[8])); !os.IsNotExist(err) {
		t.Errorf("the file stays: %v", err)
	}
}

func TestOpener(t *testing.T) {
	for _, tt := range []struct{ system, display, want string }{{"darwin", "", "open"}, {"linux", ":0", "xdg-open"}, {"freebsd", "", ""}} {
		got, err := opener(tt.system, func(name string) string { return map[string]string{"DISPLAY": tt.display}[name] })
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%v: %q, %v", tt, got, err)
		}
	}
	if _, err := private(t.TempDir(), transcript.Image{Digest: "../x"}, []byte("<svg/>")); err == nil {
		t.Error("it opens what is no picture")
	}
}
