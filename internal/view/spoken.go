package view

import (
	"slices"
	"strings"
)

// spoken is text that is shown while it is made: its blocks in the order in which
// they began, each until its entry comes.
type spoken struct {
	blocks []*spokenBlock
}

type spokenBlock struct {
	id   string
	text strings.Builder
}

// begun says whether anything of an entry that has not come is shown.
func (s *spoken) begun() bool { return len(s.blocks) > 0 }

// shows says whether a block is shown whose entry has not come.
func (s *spoken) shows(id string) bool {
	return slices.ContainsFunc(s.blocks, func(b *spokenBlock) bool { return b.id == id })
}

// forget drops what is shown: it came to nothing.
func (s *spoken) forget() { s.blocks = nil }

// fragment adds to a block. first says that the block begins with it.
func (s *spoken) fragment(id, text string) (first bool) {
	b := s.last()
	if first = b == nil || b.id != id; first {
		b = &spokenBlock{id: id}
		s.blocks = append(s.blocks, b)
	}
	b.text.WriteString(text)
	return first
}

// whole takes all text so far of a block and gives what of it is not shown yet. ok
// is false when something else is shown in its place.
func (s *spoken) whole(id, text string) (rest string, ok bool) {
	for _, b := range s.blocks {
		if b.id == id {
			return strings.CutPrefix(text, b.text.String())
		}
	}
	return text, true
}

// entry takes the text of the oldest block's entry and gives what of it is not shown
// yet. ok is false when what is shown is not the start of it, or other text is shown
// behind it: then the whole text is to be shown.
func (s *spoken) entry(text string) (rest string, ok bool) {
	if len(s.blocks) == 0 {
		return text, true
	}
	b := s.blocks[0]
	s.blocks = s.blocks[1:]
	rest, ok = strings.CutPrefix(text, b.text.String())
	return rest, ok && (rest == "" || len(s.blocks) == 0)
}

func (s *spoken) last() *spokenBlock {
	if len(s.blocks) == 0 {
		return nil
	}
	return s.blocks[len(s.blocks)-1]
}
