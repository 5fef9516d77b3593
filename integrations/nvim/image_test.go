//go:build integrations

package nvim

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig/neovim"
)

// noisy is a PNG that does not compress. Its size in bytes leaves a remainder of three.
func noisy(t *testing.T, side, rest int) string {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	random := rand.NewChaCha8([32]byte{byte(side)})
	_, _ = random.Read(img.Pix)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.String() + strings.Repeat("x", (3+rest-b.Len()%3)%3)
}

// Images go with a submit or with the prompt, byte for byte, from anywhere; what cannot be sent says
// so, and submits nothing.
func TestImages(t *testing.T) {
	w := newWorld(t, hello)
	makePod(t, w)
	elsewhere := t.TempDir()
	pictures := map[string]string{"shot.png": noisy(t, 40, 0), "a b.png": noisy(t, 41, 1), "c.png": noisy(t, 42, 2), "d.png": noisy(t, 43, 0)}
	for name, data := range pictures {
		if err := os.WriteFile(filepath.Join(elsewhere, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(t, w, "text.png", "no image")
	write(t, w, "empty.png", "")
	e := neovim.Edit(t, w)
	e.Ex("Podd image " + elsewhere + "/shot.png what is this?")
	e.Await("[picture shot.png, PNG 40×40, 7 KB]")
	e.Await("turn 1 finished")
	e.Ex(`Podd image ` + elsewhere + `/a\ b.png`)
	e.Await("turn 2 finished")

	// The prompt keeps images until it is sent.
	e.Ex("Podd prompt")
	e.AwaitLua(`vim.api.nvim_buf_get_name(0):match('podd://p/prompt$')`)
	e.Ex("Podd image " + elsewhere + "/shot.png")
	e.Ex("Podd image")
	e.Ex("Podd image " + elsewhere + "/c.png")
	e.Ex("Podd image " + elsewhere + "/d.png")
	e.Ex("call setline(1, 'and these two?')")
	e.Ex("write")
	e.Await("turn 3 finished")
	e.AwaitLua(`vim.api.nvim_get_current_line() == ''`)
	e.Ex("call setline(1, 'only text')")
	e.Ex("write")
	e.Await("turn 4 finished")

	e.Ex("wincmd p")
	for file, want := range map[string]string{
		"text.png hello":    `image "text.png" is not a PNG, JPEG, GIF or WebP image`,
		"empty.png hello":   "empty.png is empty",
		"missing.png hello": "cannot read missing.png: no such file or directory",
		". hello":           "cannot read .: it is a directory",
		"":                  "name the file of an image",
	} {
		e.Ex("Podd image " + file)
		e.AwaitLua(`table.concat(_G.said, '\n'):find('` + want + `', 1, true) ~= nil`)
	}
	if got := e.Expr(`join(getcompletion('Podd image ` + elsewhere + `/a', 'cmdline'))`); got != elsewhere+`/a\ b.png` {
		t.Errorf("the command line completes %q", got)
	}

	log := w.Podctl("tail", "p", "--after", "0", "-o", "json")
	for name, data := range pictures {
		sum := sha256.Sum256([]byte(data))
		if got := w.Podctl("image", "p", hex.EncodeToString(sum[:])); got != data {
			t.Errorf("%s came with %d bytes, not %d", name, len(got), len(data))
		}
	}
	if n := strings.Count(log, `"submitted":`); n != 4 {
		t.Errorf("%d submits:\n%s", n, log)
	}
	for _, want := range []string{`"text":"what is this?\n[shot.png, image 40x40, `, `"text":"[a b.png, image 41x41, `, `"text":"and these two?\n[c.png, image 42x42, `, `"text":"only text"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
}
