package picture

import (
	"image"
	"image/color"
	"image/draw"
)

// fit is an image whose longer side has at most side pixels. Each of its pixels is the mean of
// those that it stands for. Besides the result that takes memory for two of its lines and one of src.
func fit(src image.Image, side int) image.Image {
	from := src.Bounds()
	w, h := from.Dx(), from.Dy()
	long := max(w, h)
	if long <= side {
		return src
	}
	pixel := reader(src)
	dst := image.NewNRGBA(image.Rect(0, 0, max(1, w*side/long), max(1, h*side/long)))
	to := dst.Bounds().Size()
	across := shares(w, to.X)
	line, next := make([]sums, to.X), make([]sums, to.X)
	for y := range h {
		s := shareOf(y, h, to.Y)
		for x, t := range across {
			c := pixel(from.Min.X+x, from.Min.Y+y)
			line[t.at].add(c, s.weight*t.weight)
			if t.rest > 0 {
				line[t.at+1].add(c, s.weight*t.rest)
			}
			if s.rest > 0 {
				next[t.at].add(c, s.rest*t.weight)
				if t.rest > 0 {
					next[t.at+1].add(c, s.rest*t.rest)
				}
			}
		}
		if y == h-1 || shareOf(y+1, h, to.Y).at > s.at {
			for x := range line {
				dst.SetRGBA64(x, s.at, line[x].mean(uint64(w)*uint64(h)))
			}
			line, next = next, line
			clear(next)
		}
	}
	return dst
}

// reader gives the pixels of an image.
func reader(src image.Image) func(x, y int) color.RGBA64 {
	if r, ok := src.(image.RGBA64Image); ok {
		return r.RGBA64At
	}
	return func(x, y int) color.RGBA64 {
		r, g, b, a := src.At(x, y).RGBA()
		return color.RGBA64{R: uint16(r), G: uint16(g), B: uint16(b), A: uint16(a)}
	}
}

// share says to which pixel of a reduced line a pixel goes, and with which weight; rest is what
// goes to the pixel behind it. All weights of a reduced pixel add up to the length of the line.
type share struct {
	at           int
	weight, rest uint64
}

// shares divide the pixels of a line among fewer ones.
func shares(from, to int) []share {
	all := make([]share, from)
	for i := range all {
		all[i] = shareOf(i, from, to)
	}
	return all
}

// shareOf is the share of pixel i of a line of from pixels that is reduced to to.
func shareOf(i, from, to int) share {
	begin, end := i*to, (i+1)*to
	at := begin / from
	return share{at: at, weight: uint64(min(end, (at+1)*from) - begin), rest: uint64(max(end-(at+1)*from, 0))}
}

// sums add up the pixels that one stands for.
type sums struct{ r, g, b, a uint64 }

func (s *sums) add(c color.RGBA64, weight uint64) {
	s.r += weight * uint64(c.R)
	s.g += weight * uint64(c.G)
	s.b += weight * uint64(c.B)
	s.a += weight * uint64(c.A)
}

func (s *sums) mean(weights uint64) color.RGBA64 {
	of := func(n uint64) uint16 { return uint16((n + weights/2) / weights) }
	return color.RGBA64{R: of(s.r), G: of(s.g), B: of(s.b), A: of(s.a)}
}

// flat is an image on white, as JPEG knows no transparency.
func flat(src image.Image) image.Image {
	if o, ok := src.(interface{ Opaque() bool }); ok && o.Opaque() {
		return src
	}
	dst := image.NewRGBA(src.Bounds())
	draw.Draw(dst, dst.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(dst, dst.Bounds(), src, src.Bounds().Min, draw.Over)
	return dst
}

// upright is an image turned as its orientation (1 to 8 of EXIF) says.
func upright(src image.Image, orientation int) image.Image {
	if orientation == 1 {
		return src
	}
	b := src.Bounds()
	w, h := b.Dx(), b.Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	dst := image.NewNRGBA(size)
	for y := range h {
		for x := range w {
			to := image.Pt(x, y)
			switch orientation {
			case 2:
				to.X = w - 1 - x
			case 3:
				to = image.Pt(w-1-x, h-1-y)
			case 4:
				to.Y = h - 1 - y
			case 5:
				to = image.Pt(y, x)
			case 6:
				to = image.Pt(h-1-y, x)
			case 7:
				to = image.Pt(h-1-y, w-1-x)
			case 8:
				to = image.Pt(y, w-1-x)
			}
			dst.Set(to.X, to.Y, src.At(b.Min.X+x, b.Min.Y+y))
		}
	}
	return dst
}
