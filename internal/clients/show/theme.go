package show

// Theme replaces colours that are hard to read on a terminal's background by others of the
// terminal's own palette. The zero value replaces none.
type Theme [BrightWhite + 1]Color

// The themes. Most palettes have a yellow and a cyan that are too pale for a light
// background, and a blue and a black that are too dark for a dark one.
var (
	Light = Theme{
		Yellow: Magenta, Magenta: Blue, Cyan: Blue, White: Black,
		BrightYellow: Magenta, BrightMagenta: Magenta, BrightCyan: Blue, BrightGreen: Green, BrightWhite: Black,
	}
	Dark = Theme{Blue: BrightBlue, Black: BrightBlack}
)

// In is the line in a theme.
func (t *Theme) In(l Line) Line {
	themed := l
	for i, s := range l {
		if by := t[min(s.style.Color, BrightWhite)]; by != Default {
			if &themed[0] == &l[0] {
				themed = append(Line{}, l...)
			}
			themed[i].style.Color = by
		}
	}
	return themed
}
