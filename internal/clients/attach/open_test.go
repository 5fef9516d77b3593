package attach

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/transcript"
)

func pictureOf(w, h int) item.Image {
	return item.Image{Digest: fmt.Sprintf("%dx%d", w, h), MediaType: "image/png", Width: w, Height: h, Bytes: 2000, Name: fmt.Sprintf("%dx%d.png", w, h)}
}

// A picture is the last one on the screen, or named by its name, its digest or how far it is from the end.
func TestPick(t *testing.T) {
	log := newBlockList()
	if _, err := pick(nil, 0, ""); err == nil || err.Error() != "the transcript has no picture" {
		t.Error(err)
	}
	log.see(item.UserMessage{Text: "see", Images: item.NewImages(pictureOf(30, 20), pictureOf(40, 20))}, item.UserMessage{Text: "and", Images: item.NewImages(pictureOf(1000, 20))})
	list, shown := log.images(scroll{})
	for wanted, want := range map[string]string{
		"": "1000x20.png", "30x20.png": "30x20.png", "40x20": "40x20.png", "1000": "1000x20.png", "1": "1000x20.png", "3": "30x20.png",
		"4": "the transcript has 3 pictures", "other": `no picture is named "other"; Tab lists them`,
	} {
		got, err := pick(list, shown, wanted)
		if err != nil {
			got.Name = err.Error()
		}
		if got.Name != want {
			t.Errorf("%q is %q, want %q", wanted, got.Name, want)
		}
	}
	if list, shown := log.images(scroll{up: true}); len(list) != 3 || list[shown-1].Name != "40x20.png" {
		t.Errorf("the last of %d on the screen is %d", len(list), shown)
	}
}

// An opener that fails is quoted.
func TestOpenerFails(t *testing.T) {
	program := filepath.Join(t.TempDir(), "open")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho no viewer here >&2; exit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), program, "x.png"); err == nil || !strings.HasSuffix(err.Error(), "cannot open the picture: no viewer here") {
		t.Error(err)
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
