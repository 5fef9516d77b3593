package item

// Segment is one piece of a user's input. The kinds are TextSegment,
// PasteSegment, FileRef and UnknownSegment, always as values.
type Segment interface {
	isSegment()
}

// TextSegment is text that the user typed.
type TextSegment struct {
	Text string
}

// PasteSegment is text that the user pasted; it is never searched for @path.
type PasteSegment struct {
	Text string
	// Name is what the text is, such as stdin or the name of a buffer. The model then
	// sees where the text begins and ends.
	Name string
}

// FileRef names a file or directory of the workspace, or a range of its lines.
type FileRef struct {
	// Path is as the user wrote it: relative to the workspace, or absolute inside
	// the scope.
	Path string
	// StartLine and EndLine are a range from 1, both ends included; both 0 mean
	// the whole file. EndLine 0 with a StartLine means that line alone.
	StartLine, EndLine int
}

// UnknownSegment is a kind that this podd does not know.
type UnknownSegment struct{}

func (TextSegment) isSegment()    {}
func (PasteSegment) isSegment()   {}
func (FileRef) isSegment()        {}
func (UnknownSegment) isSegment() {}
