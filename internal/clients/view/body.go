package view

import (
	"io"

	"podd/internal/clients/markdown"
	"podd/internal/sanitize"
)

// body writes text in fragments, made safe and each line indented.
type body struct {
	safe   *sanitize.Writer
	indent *indenter
}

func newBody(w io.Writer) *body {
	in := &indenter{w: w, fresh: true}
	return &body{safe: sanitize.NewWriter(in), indent: in}
}

// Write adds a fragment.
func (b *body) Write(p []byte) (int, error) { return b.safe.Write(p) }

// end ends the last line.
func (b *body) end() error {
	if err := b.safe.Flush(); err != nil || b.indent.fresh {
		return err
	}
	_, err := b.indent.w.Write([]byte{'\n'})
	return err
}

// liveBody writes live text.
type liveBody interface {
	io.Writer
	// end ends the text.
	end() error
}

// rendering writes live Markdown: what has become final of it, at its end all.
type rendering struct {
	log    *Log
	stream *markdown.Stream
}

// Write adds a fragment.
func (r *rendering) Write(p []byte) (int, error) {
	r.stream.Write(string(p))
	return len(p), r.log.lines(indented(r.stream.Final()))
}

// end writes the rest.
func (r *rendering) end() error {
	r.stream.End()
	return r.log.lines(indented(r.stream.Final()))
}

// bodyIndent begins each line of an entry's body.
const bodyIndent = "    "

// indenter puts four blanks before each line that is not empty.
type indenter struct {
	w io.Writer
	// fresh says that a line begins.
	fresh bool
	out   []byte
}

// Write adds a fragment.
func (in *indenter) Write(p []byte) (int, error) {
	in.out = in.out[:0]
	for _, c := range p {
		if in.fresh && c != '\n' {
			in.out = append(in.out, bodyIndent...)
		}
		in.out = append(in.out, c)
		in.fresh = c == '\n'
	}
	if _, err := in.w.Write(in.out); err != nil {
		return 0, err
	}
	return len(p), nil
}
