package attach

import (
	"context"
	"math/rand/v2"
	"slices"

	"podd/internal/clients/kitty"
	"podd/internal/clients/show"
	"podd/internal/workspace/picture"
	"podd/pkg/client"
	"podd/pkg/transcript"
)

const (
	// mostDrawn is how many pictures the terminal keeps, beyond those on the screen.
	mostDrawn = 32
	// drawnSide and drawnBytes bound a picture as it is sent to the terminal, as a PNG.
	drawnSide  = 1000
	drawnBytes = 1 << 20
	// mostTries is how often a picture is sent to a terminal that does not take it.
	mostTries = 3
	// pictureMargin are columns beside a picture. They do not depend on where it stands: the
	// terminal draws a picture in one size.
	pictureMargin = 4
)

// gallery is the pictures that the terminal draws, if it does. The goroutine of the view owns it.
type gallery struct {
	room
	canvas *kitty.Canvas
	// fetch reads an image from podd.
	fetch func(ctx context.Context, digest string) ([]byte, error)
	// drawn are the pictures that were laid out, by digest; first is the number of the first,
	// any number: other programs may have given the terminal images.
	drawn map[string]*drawn
	first uint32
	// busy says that a goroutine writes to the canvas.
	busy bool
	// frames counts what was shown.
	frames int64
	// dir has the pictures that were opened; "" without one.
	dir string
}

// room is what pictures are laid out for.
type room struct {
	// draws says that the terminal draws them.
	draws bool
	// rows is how high one may be, cell the size of a cell in pixels.
	rows int
	cell kitty.Size
	// failed is how many failed, which have no room.
	failed int
}

// drawn is a picture that is drawn.
type drawn struct {
	digest string
	id     uint32
	// size is that of the last layout.
	size kitty.Size
	// era is that in which the terminal got the picture, placed where it was put with how many
	// wipes of the screen before.
	era, wipes int64
	placed     kitty.Size
	// frame is the last one that had it.
	frame int64
	// tries is how often it was sent since the terminal had it. A failed one shows as a line.
	tries  int
	failed bool
}

// cells are the rows of placeholders of a picture; none if it is not drawn.
func (g *gallery) cells(i transcript.Image, columns int) (rows []line) {
	if !g.draws {
		return nil
	}
	d := g.drawn[i.Digest]
	if d == nil {
		d = &drawn{digest: i.Digest, id: (g.first+uint32(len(g.drawn)))%kitty.MaxID + 1}
		g.drawn[i.Digest] = d
	}
	if d.failed {
		return nil
	}
	d.size = kitty.Fit(kitty.Size{Width: i.Width, Height: i.Height}, g.cell, kitty.Size{Width: columns - 2*pictureMargin, Height: g.rows})
	for row := range d.size.Height {
		rows = append(rows, in(show.Style{Image: d.id}, kitty.Row(row, d.size.Width)))
	}
	return rows
}

// answered takes what the terminal answers.
func (g *gallery) answered(r kitty.Reply) {
	if r.Yes {
		g.draws = true
	}
	if r.Cell != (kitty.Size{}) {
		g.cell = r.Cell
	}
	for _, d := range g.drawn {
		if d.id != r.Lost {
			continue
		}
		d.era = 0
		if d.tries >= mostTries {
			g.fails(d)
		}
	}
}

// fails leaves a picture out.
func (g *gallery) fails(d *drawn) {
	d.failed = true
	g.failed++
}

// again gives up nothing any longer, and what the terminal has: it gets all of it anew.
func (g *gallery) again() {
	g.failed = 0
	for _, d := range g.drawn {
		d.era, d.tries, d.failed = 0, 0, false
	}
}

// hang gives the terminal what it lacks of the pictures in a frame, one after the other. call
// does that beside the view.
func (g *gallery) hang(lines []line, call func(do func(context.Context) error, done func(error))) {
	if !g.draws {
		return
	}
	era, wipes := g.canvas.Era(), g.canvas.Wipes()
	g.frames++
	var missing, moved *drawn
	for _, d := range g.in(lines) {
		d.frame = g.frames
		switch {
		case d.era != era && missing == nil:
			missing = d
		case d.era == era && (d.wipes != wipes || d.placed != d.size):
			moved = d
		}
	}
	if g.busy || era == 0 {
		return
	}
	d, size := missing, kitty.Size{}
	var put func(ctx context.Context) error
	switch {
	case moved != nil:
		d, size = moved, moved.size
		d.tries = 0
		put = func(context.Context) error { return g.canvas.Place(era, d.id, size) }
	case missing != nil:
		size = missing.size
		d.tries++
		over := g.excess(era)
		put = func(ctx context.Context) error { return g.draw(ctx, era, d, size, over) }
	default:
		return
	}
	// The terminal may answer that it lacks the picture before put is done.
	g.busy, d.era, d.wipes, d.placed = true, era, wipes, size
	call(put, func(err error) {
		g.busy = false
		if err != nil {
			g.fails(d)
		}
	})
}

// in are the pictures that lines show.
func (g *gallery) in(lines []line) (all []*drawn) {
	var last uint32
	for _, l := range lines {
		for _, s := range l {
			id := s.Style().Image
			if id == 0 || id == last {
				continue
			}
			last = id
			for _, d := range g.drawn {
				if d.id == id && !slices.Contains(all, d) {
					all = append(all, d)
				}
			}
		}
	}
	return all
}

// excess takes the pictures that the terminal need not keep, those that were on the screen
// longest ago.
func (g *gallery) excess(era int64) (ids []uint32) {
	var kept []*drawn
	for _, d := range g.drawn {
		if d.era == era && d.frame != g.frames {
			kept = append(kept, d)
		}
	}
	slices.SortFunc(kept, func(a, b *drawn) int { return int(b.frame - a.frame) })
	for _, d := range kept[min(len(kept), mostDrawn):] {
		d.era = 0
		ids = append(ids, d.id)
	}
	return ids
}

// draw gets a picture from podd and gives it to the terminal, which need not keep those that are
// over. It runs beside the view.
func (g *gallery) draw(ctx context.Context, era int64, d *drawn, size kitty.Size, over []uint32) error {
	for _, id := range over {
		if err := g.canvas.Remove(era, id); err != nil {
			return err
		}
	}
	data, err := g.fetch(ctx, d.digest)
	if err != nil {
		return err
	}
	png, err := picture.PNG(data, drawnSide, drawnBytes)
	if err != nil {
		return err
	}
	return g.canvas.Draw(ctx, era, d.id, png, size)
}

// newGallery is a gallery of lines, until the terminal says that it draws pictures.
func newGallery(c *client.Client) *gallery {
	return &gallery{fetch: c.Image, drawn: make(map[string]*drawn), first: rand.Uint32N(kitty.MaxID), room: room{rows: 12, cell: kitty.Size{Width: 10, Height: 20}}}
}
