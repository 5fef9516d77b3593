package item

import (
	"fmt"
	"strconv"
	"strings"
)

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

// Framed is the text between two lines with its name, such as <stdin lines="2">. No line of the
// text can pass for the second one.
func (p PasteSegment) Framed() string {
	tag, attribute := p.Name, ""
	if strings.Trim(strings.ToLower(tag), "abcdefghijklmnopqrstuvwxyz") != "" {
		tag, attribute = "paste", fmt.Sprintf(" name=%s", strconv.Quote(p.Name))
	}
	tag = freeTag(p.Text, tag)
	text := strings.TrimSuffix(p.Text, "\n")
	return fmt.Sprintf("<%s%s lines=\"%d\">\n%s\n</%s>\n", tag, attribute, strings.Count(text, "\n")+1, text, tag)
}

// freeTag is a tag whose end line is not in a text: the word, or the word with a number.
func freeTag(text, word string) string {
	ends := make(map[string]bool)
	for _, behind := range strings.Split(text, "</"+word)[1:] {
		if suffix, _, ok := strings.Cut(behind[:min(len(behind), 16)], ">"); ok {
			ends[suffix] = true
		}
	}
	suffix := ""
	for n := 2; ends[suffix]; n++ {
		suffix = fmt.Sprintf("-%d", n)
	}
	return word + suffix
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
