package kitty

import (
	"fmt"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// Draws says whether a terminal draws pictures in place of placeholders, by the name and the
// version that it answers to XTVERSION. Others know the protocol and answer its question with
// yes, and yet show placeholders as characters.
func Draws(version string) bool {
	var major, minor int
	if n, _ := fmt.Sscanf(version, "kitty(%d.%d", &major, &minor); n == 2 {
		return major > 0 || minor >= 28
	}
	return strings.HasPrefix(version, "ghostty ")
}

// question is the number of the image of Ask.
const question = 31

// Ask asks a terminal whether it draws pictures, and how large its cells are. The questions are
// only for terminals that Draws accepts: others may show them as text.
const Ask = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\" + "\x1b[16t"

// Reply is what a terminal answers.
type Reply struct {
	// Yes says that it draws pictures.
	Yes bool
	// Lost is the number of an image that it does not have, else 0.
	Lost uint32
	// Cell is the size of its cells.
	Cell Size
}

// Size is a size in pixels or cells.
type Size struct{ Width, Height int }

// ReplyOf is an event of the terminal as an answer; false for any other.
func ReplyOf(event any) (r Reply, is bool) {
	switch event := event.(type) {
	case uv.CellSizeEvent:
		r.Cell = Size{event.Width, event.Height}
		return r, event.Width > 0 && event.Height > 0
	case uv.KittyGraphicsEvent:
		ok := string(event.Payload) == "OK"
		switch id := event.Options.ID; {
		case id == question:
			r.Yes = ok
		case !ok && id > 0 && id <= MaxID:
			r.Lost = uint32(id)
		}
		return r, r != Reply{}
	}
	return r, false
}
