package attach

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"podd/internal/clients/desk"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// pictureTerminal is a terminal with a person who types: an emulator of one, to which pictures are added as kitty has them.
type pictureTerminal struct {
	t    *testing.T
	name string
	// forgets says that it drops its pictures when the screen is cleared, deaf that it takes none.
	forgets, deaf bool
	person        *os.File

	mu     sync.Mutex
	screen *vt.Emulator
	// images are those of the alternate screen, placed the sizes that they were put in.
	images map[uint32]image.Config
	placed map[uint32]image.Point
	// open is the image of which parts are missing, data what came of it.
	open uint32
	data []byte
	// sent are the images that came, in their order; asked are other things that it was asked.
	sent  []uint32
	asked []string
	wrong []string
	// given is how often the screen was given back.
	given int
}

const (
	marker = "\U0010eeee"
	// diacritics are the first of those that count rows and columns, from kitty's rowcolumn-diacritics.txt.
	diacritics = "\u0305\u030D\u030E\u0310\u0312\u033D\u033E\u033F\u0346\u034A\u034B\u034C\u0350\u0351\u0352\u0357\u035B\u0363\u0364\u0365\u0366\u0367\u0368\u0369\u036A\u036B\u036C\u036D\u036E\u036F\u0483\u0484\u0485\u0486\u0487\u0592\u0593\u0594"
)

// start opens the terminal with a size, for a view to use, until stop.
func (k *pictureTerminal) start(columns, rows int) (terminal *os.File, stop func()) {
	k.t.Helper()
	person, terminal, err := pty.Open()
	if err != nil {
		k.t.Fatal(err)
	}
	k.person, k.screen = person, vt.NewEmulator(columns, rows)
	k.forget()
	k.resize(columns, rows)
	k.screen.RegisterCsiHandler(ansi.Command('>', 0, 'q'), func(ansi.Params) bool {
		k.asked = append(k.asked, "version")
		k.answer("\x1bP>|" + k.name + "\x1b\\")
		return true
	})
	k.screen.RegisterCsiHandler('t', func(ansi.Params) bool { k.answer("\x1b[6;20;10t"); return true })
	k.screen.RegisterCsiHandler('J', func(p ansi.Params) bool {
		if n, _, _ := p.Param(0, 0); n == 2 && k.forgets {
			k.forget()
		}
		return false
	})
	k.screen.SetCallbacks(vt.Callbacks{AltScreen: func(on bool) {
		if !on && len(k.images)+len(k.placed) > 0 {
			k.wrong = append(k.wrong, fmt.Sprintf("the screen was given back with the pictures %v", k.images))
		}
		if !on {
			k.given++
		}
		k.forget()
	}})
	k.screen.RegisterApcHandler(k.graphics)
	done := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(person, k.screen); done <- struct{}{} }()
	go func() { k.show(); done <- struct{}{} }()
	return terminal, func() {
		_ = terminal.Close()
		<-done
		if pipe, is := k.screen.InputPipe().(io.Closer); is {
			_ = pipe.Close()
		}
		<-done
		_ = person.Close()
	}
}

// show shows what is written to the terminal. A character and what combines with it stay together.
func (k *pictureTerminal) show() {
	var held []byte
	b := make([]byte, 1<<16)
	for {
		n, err := k.person.Read(b)
		held = append(held, b[:n]...)
		ready := len(held)
		if at := bytes.LastIndex(held, []byte("\xf4")); err == nil && at >= 0 && len(held)-at < 12 {
			ready = at
		}
		k.mu.Lock()
		_, _ = k.screen.Write(held[:ready])
		k.mu.Unlock()
		held = held[ready:]
		if err != nil {
			return // The terminal is closed.
		}
	}
}

func (k *pictureTerminal) answer(text string) { _, _ = io.WriteString(k.screen.InputPipe(), text) }

func (k *pictureTerminal) forgetAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forget()
}

func (k *pictureTerminal) forget() {
	k.images, k.placed = make(map[uint32]image.Config), make(map[uint32]image.Point)
}

// graphics takes a sequence of the graphics protocol.
func (k *pictureTerminal) graphics(apc []byte) bool {
	head, payload, _ := strings.Cut(strings.TrimPrefix(string(apc), "G"), ";")
	keys := make(map[string]string)
	for key := range strings.SplitSeq(head, ",") {
		name, value, _ := strings.Cut(key, "=")
		keys[name] = value
	}
	number := func(key string) int { n, _ := strconv.Atoi(keys[key]); return n }
	id := uint32(number("i"))
	if keys["a"] != "" && k.open != 0 {
		k.wrong = append(k.wrong, head+" between the parts of an image")
	}
	switch {
	case keys["a"] == "q":
		k.asked = append(k.asked, "graphics")
		k.answer("\x1b_Gi=" + keys["i"] + ";OK\x1b\\")
	case keys["a"] == "d":
		delete(k.images, id)
		delete(k.placed, id)
	case keys["a"] == "p" && k.images[id].Width == 0:
		if number("q") < 2 {
			k.answer(fmt.Sprintf("\x1b_Gi=%d,p=1;ENOENT:no such image\x1b\\", id))
		}
	case keys["a"] == "p" && keys["U"] == "1":
		k.placed[id] = image.Pt(number("c"), number("r"))
	case keys["a"] == "t" && keys["f"] == "100" && keys["q"] == "2":
		k.open, k.data = id, nil
		fallthrough
	case keys["a"] == "" && k.open != 0:
		part, err := base64.StdEncoding.DecodeString(payload)
		if err != nil || len(payload) > 4096 {
			k.wrong = append(k.wrong, fmt.Sprintf("a part of %d bytes: %v", len(payload), err))
		}
		if k.data = append(k.data, part...); number("m") == 0 {
			k.arrived()
		}
	default:
		k.wrong = append(k.wrong, head)
	}
	return true
}

// arrived takes an image that is whole.
func (k *pictureTerminal) arrived() {
	got, err := png.Decode(bytes.NewReader(k.data))
	if err != nil {
		k.wrong = append(k.wrong, err.Error())
	} else if !k.deaf {
		k.images[k.open] = image.Config{Width: got.Bounds().Dx(), Height: got.Bounds().Dy()}
	}
	k.sent, k.open = append(k.sent, k.open), 0
}

// pictures are what is drawn: the part of each picture's placeholders on the screen, with the row and the column of the screen
// at which it begins, if the terminal has the picture in the size of the placeholders.
func (k *pictureTerminal) pictures() (shown []string) {
	parts := make(map[uint32]image.Rectangle)
	at := make(map[uint32]image.Point)
	index := func(r rune) int { return strings.IndexRune(diacritics, r) / 2 }
	for y := range k.screen.Height() {
		for x := range k.screen.Width() {
			c := k.screen.CellAt(x, y)
			if c == nil || !strings.HasPrefix(c.Content, marker) {
				continue
			}
			runes := []rune(c.Content)
			r, g, b, _ := c.Style.Fg.RGBA()
			id := r>>8<<16 | g>>8<<8 | b>>8
			column := index(runes[2])
			cell := image.Rect(column, index(runes[1]), column+1, index(runes[1])+1)
			if _, begun := at[id]; !begun {
				at[id] = image.Pt(x-cell.Min.X, y-cell.Min.Y)
			}
			if at[id].Add(cell.Min) != image.Pt(x, y) {
				k.wrong = append(k.wrong, fmt.Sprintf("placeholder %v at %d, %d", cell, x, y))
			}
			parts[id] = parts[id].Union(cell)
		}
	}
	for id, part := range parts {
		if k.images[id].Width > 0 && part.Max.X == k.placed[id].X && part.Max.Y <= k.placed[id].Y {
			shown = append(shown, fmt.Sprintf("%v of %v at %v", part, k.placed[id], at[id]))
		}
	}
	slices.Sort(shown)
	return shown
}

// await waits until the pictures are these, and the screen shows a text.
func (k *pictureTerminal) await(text string, want ...string) {
	k.t.Helper()
	k.awaitThat(fmt.Sprintf("%q with the pictures %q", text, want), func(shown string, pictures []string) bool {
		return slices.Equal(pictures, want) && strings.Contains(shown, text)
	})
}

// awaitThat waits for what the screen and its pictures are to be.
func (k *pictureTerminal) awaitThat(what string, is func(shown string, pictures []string) bool) {
	k.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		k.mu.Lock()
		shown, pictures := k.screen.String(), k.pictures()
		there := is(shown, pictures)
		wrong := k.wrong
		k.mu.Unlock()
		if len(wrong) > 0 || time.Now().After(deadline) {
			k.t.Fatalf("the terminal got %q, waiting for %s, and shows %q\n%s", wrong, what, pictures, shown)
		}
		if there {
			return
		}
	}
}

// text is the screen.
func (k *pictureTerminal) text() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.screen.String()
}

func (k *pictureTerminal) types(keys string) {
	if _, err := k.person.WriteString(keys); err != nil {
		k.t.Error(err)
	}
}

func (k *pictureTerminal) resize(columns, rows int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.screen.Resize(columns, rows)
	if err := pty.Setsize(k.person, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		k.t.Error(err)
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGWINCH)
}

// view shows a conversation with pictures on the terminal until the person leaves, while act does what a person does. The
// pictures of fetch are its names' sizes, such as "30x20".
func (k *pictureTerminal) view(env map[string]string, act func(a *app)) {
	k.t.Helper()
	terminal, stop := k.start(80, 24)
	ctx, fail := context.WithCancelCause(k.t.Context())
	home := k.t.TempDir()
	a := newApp(ctx, fail, Config{Desk: desk.Defaults(), In: terminal, Out: terminal, Color: env["NO_COLOR"] == "", Env: func(name string) string {
		if name == "HOME" {
			return home
		}
		return env[name]
	}}, &poddv1.Pod{Name: "p"})
	a.asking = true // There is no podd to ask.
	a.log.gallery.fetch = func(_ context.Context, digest string) ([]byte, error) {
		var w, h int
		if _, err := fmt.Sscanf(digest, "%dx%d", &w, &h); err != nil {
			return nil, errors.New("there is no such image")
		}
		return dots(w, h), nil
	}
	done := make(chan error, 1)
	go func() { done <- a.run(func() error { a.hand(func() { a.ready, a.said = true, "" }); return nil }) }()
	act(a)
	k.types("\x15\x04") // Whatever is typed goes, then the person.
	if err := <-done; err != nil {
		k.t.Error(err)
	}
	stop()
	if len(k.wrong) > 0 || k.screen.IsAltScreen() {
		k.t.Errorf("the terminal got %q", k.wrong)
	}
}

// dots is a PNG that does not compress well.
func dots(w, h int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.Set(i%w, i/w, color.NRGBA{byte(i * i >> 3), byte(i * 7), byte(i >> 5), 255})
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img)
	return b.Bytes()
}

func pictureOf(w, h int) item.Image {
	return item.Image{Digest: fmt.Sprintf("%dx%d", w, h), MediaType: "image/png", Width: w, Height: h, Bytes: 2000, Name: fmt.Sprintf("%dx%d.png", w, h)}
}

func (a *app) feed(messages ...any) { a.hand(func() { a.log.see(messages...) }) }
