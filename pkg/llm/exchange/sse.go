package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

// MaxLine bounds a line of a stream, and so the memory that an endpoint can use.
const MaxLine = 16 << 20

// errTooLong says that the endpoint sent a line, an event or an answer above its limit.
var errTooLong = errors.New("a message of the stream is too long")

// byteOrderMark may begin a text.
var byteOrderMark = []byte("\xEF\xBB\xBF")

// sseReader reads server-sent events: the fields event and data, and lines that end with
// LF or CRLF. A field error, which llama.cpp sends, is an event of that name. It skips
// comments and other fields.
type sseReader struct {
	in    *bufio.Reader
	begun bool
	event []byte
	// stray are the lines that are no fields: an endpoint that fails writes them between
	// events.
	stray []byte
	data  []byte
	// lines counts the data lines of the event.
	lines int
	// line is a line that is longer than the buffer of in.
	line []byte
}

// buffers are the reusable buffers of ended streams.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 32<<10) }}

// newSSEReader reads r. Close it after use.
func newSSEReader(r io.Reader) *sseReader {
	in := buffers.Get().(*bufio.Reader)
	in.Reset(r)
	return &sseReader{in: in}
}

// close returns the buffer.
func (s *sseReader) close() {
	s.in.Reset(nil)
	buffers.Put(s.in)
	s.in = nil
}

// sseEvent is one event. Its bytes are valid until the next call of next.
type sseEvent struct {
	name, data []byte
	// cut says that the stream ended within the event: without the end of the last line or
	// the blank line that closes an event.
	cut bool
}

// next reads one event with data. At the end of the stream it returns an unfinished
// event, and otherwise io.EOF.
func (s *sseReader) next() (sseEvent, error) {
	s.event, s.data, s.lines = s.event[:0], s.data[:0], 0
	for {
		line, err := s.readLine()
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return sseEvent{}, err
		}
		if len(line) > 0 {
			if err := s.field(line); err != nil {
				return sseEvent{}, err
			}
		}
		switch {
		case ended && s.lines == 0:
			return sseEvent{}, io.EOF
		case ended, len(line) == 0 && s.lines > 0:
			return sseEvent{name: s.event, data: s.data, cut: ended}, nil
		case len(line) == 0:
			s.event = s.event[:0]
		}
	}
}

// field reads one line of an event.
func (s *sseReader) field(line []byte) error {
	name, value := cutField(line)
	switch string(name) {
	case "error":
		s.event = append(s.event[:0], name...)
		fallthrough
	case "data":
		if len(s.data)+len(value) > MaxLine {
			return errTooLong
		}
		if s.lines > 0 {
			s.data = append(s.data, '\n')
		}
		s.lines++
		s.data = append(s.data, value...)
	case "event":
		s.event = append(s.event[:0], value...)
	case "", "id", "retry":
	default:
		if len(s.stray)+len(line) < maxWhole {
			s.stray = append(append(s.stray, line...), '\n')
		}
	}
	return nil
}

// first is the first byte of the stream that is no white space and no byte order mark, both
// of which it skips.
func (s *sseReader) first() (byte, error) {
	for {
		b, err := s.in.Peek(1)
		switch {
		case err != nil:
			return 0, err
		case b[0] > ' ' && b[0] != byteOrderMark[0]:
			return b[0], nil
		case b[0] == byteOrderMark[0]:
			if b, _ = s.in.Peek(len(byteOrderMark)); !bytes.Equal(b, byteOrderMark) {
				return b[0], nil
			}
		}
		_, _ = s.in.Discard(len(b))
	}
}

// cutField splits "name: value"; one space after the colon is not part of the value.
func cutField(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte{':'})
	return name, bytes.TrimPrefix(value, []byte{' '})
}

// readLine reads a line without its end; valid until the next call. At the end of the
// stream it returns the rest together with io.EOF.
func (s *sseReader) readLine() ([]byte, error) {
	line, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		s.line = append(s.line[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = s.in.ReadSlice('\n')
			if len(s.line)+len(line) > MaxLine {
				return nil, errTooLong
			}
			s.line = append(s.line, line...)
		}
		line = s.line
	}
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), err
}
