package attach

// scroll is the part of the transcript on the screen, as the line at the lower edge. The
// zero value is the live end, which stays in sight as text arrives.
type scroll struct {
	// up says that a person has scrolled up; the last line shown is then line of block.
	up          bool
	block, line int
}

// page is the lines of the transcript that are on the screen, the questions' lines last.
type page struct {
	lines []line
	// below is how many blocks are below the screen. The lines of the tail from tailFrom up
	// to tailUpTo are on the screen.
	below              int
	tailFrom, tailUpTo int
}

// at is a position in the transcript: a line of a block. The tail is the last block.
type at struct{ block, line int }

// layouts gives the lines of a block; the one after the last is the tail.
type layouts func(block int) []line

// before is the line above one.
func before(of layouts, p at) (at, bool) {
	if p.line > 0 {
		return at{p.block, p.line - 1}, true
	}
	for b := p.block - 1; b >= 0; b-- {
		if n := len(of(b)); n > 0 {
			return at{b, n - 1}, true
		}
	}
	return p, false
}

// after is the line below one.
func after(of layouts, blocks int, p at) (at, bool) {
	if p.line+1 < len(of(p.block)) {
		return at{p.block, p.line + 1}, true
	}
	for b := p.block + 1; b < blocks; b++ {
		if len(of(b)) > 0 {
			return at{b, 0}, true
		}
	}
	return p, false
}

// step is the position some lines above (negative) or below one, within the transcript.
func step(of layouts, blocks int, p at, lines int) at {
	for more := true; more && lines < 0; lines++ {
		p, more = before(of, p)
	}
	for more := true; more && lines > 0; lines-- {
		p, more = after(of, blocks, p)
	}
	return p
}

// start is the first line.
func start(of layouts, blocks int) at {
	p := at{0, -1}
	p, _ = after(of, blocks, p)
	return at{p.block, max(p.line, 0)}
}

// end is the last line.
func end(of layouts, blocks int) at {
	p := at{blocks - 1, len(of(blocks-1)) - 1}
	for p.line < 0 && p.block > 0 {
		p.block--
		p.line = len(of(p.block)) - 1
	}
	p.line = max(p.line, 0)
	return p
}

// bottom is the last line on the screen.
func (s *scroll) bottom(of layouts, blocks int) at {
	last := end(of, blocks)
	if !s.up {
		return last
	}
	p := at{min(s.block, blocks-1), s.line}
	p.line = min(p.line, len(of(p.block))-1)
	if p.line < 0 {
		p, _ = before(of, at{p.block, 0})
	}
	if p.block > last.block || p.block == last.block && p.line >= last.line {
		s.up = false
		return last
	}
	return p
}

// move scrolls by lines on a screen with rows; a negative number is up.
func (s *scroll) move(of layouts, blocks, rows, lines int) {
	p := step(of, blocks, s.bottom(of, blocks), lines)
	// The first line stays at the upper edge.
	if top := step(of, blocks, start(of, blocks), rows-1); p.block < top.block || p.block == top.block && p.line < top.line {
		p = top
	}
	last := end(of, blocks)
	*s = scroll{up: p != last, block: p.block, line: p.line}
}

// page lays out a screen.
func (s *scroll) page(of layouts, blocks, rows int) page {
	p := s.bottom(of, blocks)
	pg := page{tailFrom: -1}
	if s.up {
		pg.below = blocks - 1 - p.block
	}
	for block, upTo := p.block, p.line+1; block >= 0 && len(pg.lines) < rows; block-- {
		lines := of(block)
		if block < p.block {
			upTo = len(lines)
		}
		upTo = min(upTo, len(lines))
		from := max(upTo-(rows-len(pg.lines)), 0)
		if block == blocks-1 && upTo > from {
			pg.tailFrom, pg.tailUpTo = from, upTo
		}
		pg.lines = append(append([]line{}, lines[from:upTo]...), pg.lines...)
	}
	return pg
}
