package item

// Segment is one piece of a user's input. The kinds are TextSegment,
// PasteSegment, FileRef, ImageSegment and UnknownSegment, always as values.
type Segment interface {
	isSegment()
}

// TextSegment is text that the user typed.
type TextSegment struct {
	Text string
}

// PasteSegment is text that the user pasted; podd does not search it for @path.
type PasteSegment struct {
	Text string
	// Name says what the text is, such as stdin or the name of a buffer. The model then sees
	// where the text begins and ends.
	Name string
}

// FileRef names a file or directory of the workspace, or a range of its lines.
type FileRef struct {
	// Path is as the user wrote it: relative to the workspace, or absolute inside the scope.
	Path string
	// StartLine and EndLine are a range from 1, including both ends; both 0 mean the whole
	// file. EndLine 0 with a StartLine means only that line.
	StartLine, EndLine int
}

// ImageSegment is a picture that the user attached. A client gives its bytes and a name; podd
// finds out the rest.
type ImageSegment struct {
	Image
}

// UnknownSegment is a kind that this podd does not know.
type UnknownSegment struct{}

func (TextSegment) isSegment()    {}
func (PasteSegment) isSegment()   {}
func (FileRef) isSegment()        {}
func (ImageSegment) isSegment()   {}
func (UnknownSegment) isSegment() {}
