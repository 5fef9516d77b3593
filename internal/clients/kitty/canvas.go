package kitty

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"
)

// What a program writes to take the alternate screen, to give it back, and to clear it.
var (
	taken   = []byte(ansi.SetModeAltScreenSaveCursor)
	given   = []byte(ansi.ResetModeAltScreenSaveCursor)
	cleared = []byte(ansi.EraseEntireScreen)
)

// Canvas is a terminal that is written to: frames of a program that uses the alternate screen,
// and between them pictures. Terminals keep the pictures of that screen as long as it is shown,
// so the canvas removes its own when the screen is given back, and gives out none without it.
// Its methods may be called from any goroutine.
type Canvas struct {
	out io.Writer
	// changed is called when the era or the wipes have changed. It must not block.
	changed func()
	// eras numbers the times in which the alternate screen is shown; 0 while it is not.
	era, eras, wipes atomic.Int64

	mu sync.Mutex
	// held are the images that the terminal has. begun is the one of which it has only a part.
	held  map[uint32]bool
	begun bool
}

// NewCanvas is a canvas of a terminal.
func NewCanvas(out io.Writer, changed func()) *Canvas {
	return &Canvas{out: out, changed: changed, held: make(map[uint32]bool)}
}

// Era numbers the time for which the alternate screen is shown. A terminal has no pictures of an
// earlier one. It is 0 while the screen is not shown.
func (c *Canvas) Era() int64 { return c.era.Load() }

// Wipes counts how often the screen was cleared. Some terminals forget pictures then.
func (c *Canvas) Wipes() int64 { return c.wipes.Load() }

// Write writes a frame.
func (c *Canvas) Write(frame []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	takes, gives := bytes.LastIndex(frame, taken), bytes.LastIndex(frame, given)
	if gives >= 0 {
		c.clean()
	}
	n, err := c.out.Write(frame)
	wipes := bytes.Contains(frame, cleared)
	if wipes {
		c.wipes.Add(1)
	}
	if takes > gives {
		c.era.Store(c.eras.Add(1))
	}
	if wipes || takes > gives {
		c.changed()
	}
	return n, err
}

// clean takes all pictures back from the terminal.
func (c *Canvas) clean() {
	c.era.Store(0)
	var b bytes.Buffer
	if c.begun {
		b.WriteString(ansi.KittyGraphics(nil, "m=0", "q=2"))
	}
	for id := range c.held {
		b.WriteString(remove(id))
	}
	c.begun = false
	clear(c.held)
	if b.Len() > 0 {
		_, _ = c.out.Write(b.Bytes()) // What follows fails, too, and is reported.
	}
}

func remove(id uint32) string {
	return ansi.KittyGraphics(nil, "a=d", "d=I", fmt.Sprintf("i=%d", id), "q=2")
}

// send writes a sequence if the era is still the same. Frames come between sequences, so that a
// large picture keeps no frame waiting.
func (c *Canvas) send(era int64, sequence string, then func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if era == 0 || c.era.Load() != era {
		return nil // The next era shows the picture.
	}
	then()
	_, err := io.WriteString(c.out, sequence)
	return err
}

// Draw gives the terminal a PNG under a number, and shows it in place of that many cells of
// placeholders. It does nothing once the era is over. One goroutine at a time may draw: the
// parts of two pictures must not mix.
func (c *Canvas) Draw(ctx context.Context, era int64, id uint32, png []byte, size Size) error {
	data := base64.StdEncoding.EncodeToString(png)
	options := []string{"a=t", "f=100", fmt.Sprintf("i=%d", id), "q=2"}
	for data != "" && ctx.Err() == nil {
		part := data[:min(len(data), kitty.MaxChunkSize)]
		data = data[len(part):]
		more := data != ""
		options = append(options, map[bool]string{true: "m=1", false: "m=0"}[more])
		err := c.send(era, ansi.KittyGraphics([]byte(part), options...), func() { c.held[id], c.begun = true, more })
		if err != nil {
			return err
		}
		options = []string{"q=2"}
	}
	if ctx.Err() != nil {
		return nil
	}
	return c.Place(era, id, size)
}

// Place says in how many cells of placeholders an image is shown. If the terminal does not have
// the image, it answers so.
func (c *Canvas) Place(era int64, id uint32, size Size) error {
	return c.send(era, ansi.KittyGraphics(nil, "a=p", "U=1", fmt.Sprintf("i=%d", id), "p=1", fmt.Sprintf("c=%d", size.Width), fmt.Sprintf("r=%d", size.Height), "q=1"), func() {})
}

// Remove takes an image back.
func (c *Canvas) Remove(era int64, id uint32) error {
	return c.send(era, remove(id), func() { delete(c.held, id) })
}
