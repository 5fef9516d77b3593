package kitty_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	graphics "github.com/charmbracelet/x/ansi/kitty"
	"go.uber.org/goleak"

	"podd/internal/clients/cells"
	"podd/internal/clients/kitty"
	"podd/internal/sanitize"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Terminals that show placeholders as characters are not those that draw pictures, whatever
// they answer to the protocol's question.
func TestDraws(t *testing.T) {
	for version, want := range map[string]bool{
		"kitty(0.36.4)": true, "kitty(0.28.0)": true, "kitty(1.0)": true, "kitty(0.26.5)": false, "ghostty 1.1.3": true,
		"WezTerm 20240203-110809-5046fc22": false, "Konsole 24.12": false, "tmux 3.4": false, "kitty": false, "": false,
	} {
		if got := kitty.Draws(version); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}

func TestReplies(t *testing.T) {
	for sent, want := range map[string]kitty.Reply{
		"\x1b_Gi=31;OK\x1b\\":                             {Yes: true},
		"\x1b_Gi=31;EINVAL:no\x1b\\":                      {},
		"\x1b_Gi=70000,p=1;ENOENT:no image\x1b\\":         {Lost: 70000},
		"\x1b_Gi=70000,p=1;OK\x1b\\":                      {},
		"\x1b_Gi=4294967295;ENOENT:another's image\x1b\\": {},
		"\x1b[6;20;10t":                                   {Cell: kitty.Size{Width: 10, Height: 20}},
		"\x1b[6;0;0t":                                     {},
	} {
		n, event := new(uv.EventDecoder).Decode([]byte(sent))
		got, is := kitty.ReplyOf(event)
		if n != len(sent) || is != (want != kitty.Reply{}) || is && got != want {
			t.Errorf("%q: %v, %v", sent, got, is)
		}
	}
	if _, is := kitty.ReplyOf("another event"); is {
		t.Error("another event is a reply")
	}
}

// Each cell of a row is one column for those who draw the screen, and safe text.
func TestRow(t *testing.T) {
	for _, row := range []int{0, 1, kitty.MaxSide - 1} {
		text := kitty.Row(row, kitty.MaxSide)
		seen := make(map[string]bool)
		for g, width := range cells.Graphemes(text) {
			if width != 1 || !strings.HasPrefix(g, string(graphics.Placeholder)) || ansi.StringWidthWc(g) != 1 {
				t.Fatalf("%q has %d columns", g, width)
			}
			seen[g] = true
		}
		if len(seen) != kitty.MaxSide || sanitize.Line(text) != text {
			t.Errorf("row %d has %d cells", row, len(seen))
		}
	}
}

func TestFit(t *testing.T) {
	cell, room := kitty.Size{Width: 10, Height: 20}, kitty.Size{Width: 60, Height: 12}
	for image, want := range map[kitty.Size]kitty.Size{
		{Width: 300, Height: 200}: {Width: 30, Height: 10}, {Width: 1, Height: 1}: {Width: 1, Height: 1}, {Width: 1600, Height: 100}: {Width: 60, Height: 2},
		{Width: 100, Height: 4800}: {Width: 1, Height: 12}, {Width: 1 << 40, Height: 1}: {Width: 60, Height: 1}, {}: {}, {Width: -1, Height: 5}: {},
	} {
		if got := kitty.Fit(image, cell, room); got != want {
			t.Errorf("%v takes %v, want %v", image, got, want)
		}
	}
	if got := kitty.Fit(kitty.Size{Width: 9000, Height: 9000}, kitty.Size{Width: 1, Height: 1}, kitty.Size{Width: 5000, Height: 5000}); got.Width > kitty.MaxSide || got.Height > kitty.MaxSide {
		t.Errorf("it takes %v", got)
	}
}

func FuzzFit(f *testing.F) {
	f.Add(300, 200, 10, 20, 60, 12)
	f.Fuzz(func(t *testing.T, w, h, cw, ch, rw, rh int) {
		got := kitty.Fit(kitty.Size{Width: w, Height: h}, kitty.Size{Width: cw, Height: ch}, kitty.Size{Width: rw, Height: rh})
		if got != (kitty.Size{}) && (min(got.Width, got.Height) < 1 || got.Width > min(rw, kitty.MaxSide) || got.Height > min(rh, kitty.MaxSide)) {
			t.Errorf("%v", got)
		}
	})
}

// stages of a terminal.
const (
	take = ansi.SetModeAltScreenSaveCursor + "frame"
	give = ansi.ResetModeAltScreenSaveCursor
)

// A picture goes in parts, to the alternate screen alone, and goes away with it.
func TestCanvas(t *testing.T) {
	var out bytes.Buffer
	changes := 0
	c := kitty.NewCanvas(&out, func() { changes++ })
	size := kitty.Size{Width: 3, Height: 2}
	write := func(text string) {
		if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	draw := func(era int64, bytes int) string {
		t.Helper()
		out.Reset()
		if err := c.Draw(t.Context(), era, 70000, make([]byte, bytes), size); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := draw(c.Era(), 10); got != "" || c.Era() != 0 {
		t.Errorf("without the screen it writes %q", got)
	}
	write(take)
	era := c.Era()
	if era == 0 || changes != 1 {
		t.Fatalf("era %d, %d changes", era, changes)
	}
	const place = "\x1b_Ga=p,U=1,i=70000,p=1,c=3,r=2,q=1\x1b\\"
	if got := draw(era, 6); got != "\x1b_Ga=t,f=100,i=70000,q=2,m=0;AAAAAAAA\x1b\\"+place {
		t.Errorf("it writes %q", got)
	}
	got := draw(era, 3072*2+3)
	if parts := strings.Split(got, "\x1b\\"); len(parts) != 5 || !strings.HasPrefix(parts[1], "\x1b_Gq=2,m=1;") || parts[2] != "\x1b_Gq=2,m=0;AAAA" || parts[3]+"\x1b\\" != place {
		t.Errorf("a large one is %q", got)
	}
	wipes := c.Wipes()
	write("\x1b[H" + ansi.EraseEntireScreen)
	if c.Wipes() != wipes+1 || changes != 2 {
		t.Errorf("%d wipes, %d changes", c.Wipes()-wipes, changes)
	}
	out.Reset()
	write(give)
	if want := "\x1b_Ga=d,d=I,i=70000,q=2\x1b\\" + give; out.String() != want {
		t.Errorf("it ends with %q", out.String())
	}
	if got := draw(era, 10); got != "" {
		t.Errorf("after the end it writes %q", got)
	}
	write(take)
	if c.Era() <= era {
		t.Errorf("era %d follows %d", c.Era(), era)
	}
	if got := draw(era, 10); got != "" {
		t.Errorf("for an earlier era it writes %q", got)
	}
	out.Reset()
	if err := c.Remove(c.Era(), 70000); err != nil || !strings.Contains(out.String(), "d=I,i=70000") {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// cut calls a function after each write.
type cut struct {
	out   bytes.Buffer
	after func()
}

func (c *cut) Write(b []byte) (int, error) {
	defer c.after()
	return c.out.Write(b)
}

// A picture of which only a part was written is ended before the screen is given back.
func TestCanvasEndsWhatItBegan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &cut{after: func() {}}
	c := kitty.NewCanvas(out, func() {})
	_, _ = c.Write([]byte(take))
	out.after = cancel
	if err := c.Draw(ctx, c.Era(), 70000, make([]byte, 9000), kitty.Size{Width: 1, Height: 1}); err != nil {
		t.Fatal(err)
	}
	out.out.Reset()
	_, _ = c.Write([]byte(give))
	if want := "\x1b_Gm=0,q=2\x1b\\\x1b_Ga=d,d=I,i=70000,q=2\x1b\\" + give; out.out.String() != want {
		t.Errorf("it ends with %q", out.out.String())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestCanvasReportsErrors(t *testing.T) {
	c := kitty.NewCanvas(full{}, func() {})
	if _, err := c.Write([]byte(take)); err == nil {
		t.Error("no error of a frame")
	}
	if err := c.Draw(t.Context(), c.Era(), 1, []byte("x"), kitty.Size{}); err == nil {
		t.Error("no error of a picture")
	}
}
