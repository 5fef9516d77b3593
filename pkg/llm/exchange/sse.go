package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/openai/openai-go/v3/packages/ssestream"
)

// MaxLine bounds a line of a stream, and so the memory that an endpoint can use.
const MaxLine = 16 << 20

// errTooLong says that the endpoint sent a line, an event or an answer above its limit.
var errTooLong = errors.New("a message of the stream is too long")

// byteOrderMark may begin a text.
var byteOrderMark = []byte("\xEF\xBB\xBF")

// sseReader reads server-sent events: openai-go's decoder makes them of the lines.
type sseReader struct {
	lines
	events ssestream.Decoder
}

// buffers are the reusable buffers of ended streams.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 32<<10) }}

// newSSEReader reads r. Close it after use.
func newSSEReader(r io.Reader) *sseReader {
	in := buffers.Get().(*bufio.Reader)
	in.Reset(r)
	s := &sseReader{lines: lines{in: in}}
	s.events = ssestream.NewDecoder(&http.Response{Body: io.NopCloser(&s.lines)})
	return s
}

// close returns the buffer.
func (s *sseReader) close() {
	s.in.Reset(nil)
	buffers.Put(s.in)
	s.in = nil
}

// sseEvent is one event.
type sseEvent struct {
	name string
	data []byte
	// cut says that the stream ended within the event: without the end of the last line or
	// the blank line that closes an event.
	cut bool
}

// next reads one event with data. At the end of the stream it returns an unfinished
// event, and otherwise io.EOF.
func (s *sseReader) next() (sseEvent, error) {
	if s.events.Next() {
		ev := s.events.Event()
		return sseEvent{name: ev.Type, data: bytes.TrimSuffix(ev.Data, []byte{'\n'}), cut: s.cut}, nil
	}
	if err := s.events.Err(); err != nil {
		return sseEvent{}, err
	}
	return sseEvent{}, io.EOF
}

// lines reads the lines of a stream, one a read, so that what it knows of them is of the event
// that openai-go's decoder returns next. It bounds them, and changes what real endpoints send: it
// drops a byte order mark, closes the last event, and makes the field error, which llama.cpp
// sends, the data of an event of that name.
type lines struct {
	in    *bufio.Reader
	begun bool
	// stray are the lines that are no fields: an endpoint that fails writes them between
	// events.
	stray []byte
	// size counts the bytes of the event's data, with the ends of its lines.
	size int
	// cut says that the stream ended within an event.
	cut bool
	// line is a line that is longer than the buffer of in, out what is read of a line, with the
	// part that is not read yet in rest.
	line, out, rest []byte
}

// Read reads a line, or the rest of one.
func (l *lines) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		if err := l.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// fill makes rest of the next line.
func (l *lines) fill() error {
	line, err := l.readLine()
	ended := errors.Is(err, io.EOF)
	if err != nil && (!ended || len(line) == 0 && l.size == 0) {
		return err
	}
	if err := l.field(line); err != nil {
		return err
	}
	if ended && l.size > 0 {
		l.cut = true
		l.out = append(l.out, '\n')
	}
	if ended || len(line) == 0 {
		l.size = 0
	}
	l.rest = l.out
	return nil
}

// field reads one line of an event, which is empty behind the event.
func (l *lines) field(line []byte) error {
	l.out = l.out[:0]
	name, value := cutField(line)
	switch string(name) {
	case "error":
		l.out = append(l.out, "event: error\ndata: "...)
		line = value
		fallthrough
	case "data":
		if l.size += len(value) + 1; l.size > MaxLine {
			return errTooLong
		}
	case "", "event", "id", "retry":
	default:
		if len(l.stray)+len(line) < maxWhole {
			l.stray = append(append(l.stray, line...), '\n')
		}
	}
	l.out = append(append(l.out, line...), '\n')
	return nil
}

// first is the first byte of the stream that is no white space and no byte order mark, both
// of which it skips.
func (l *lines) first() (byte, error) {
	for {
		b, err := l.in.Peek(1)
		switch {
		case err != nil:
			return 0, err
		case b[0] > ' ' && b[0] != byteOrderMark[0]:
			return b[0], nil
		case b[0] == byteOrderMark[0]:
			if b, _ = l.in.Peek(len(byteOrderMark)); !bytes.Equal(b, byteOrderMark) {
				return b[0], nil
			}
		}
		_, _ = l.in.Discard(len(b))
	}
}

// cutField splits "name: value"; one space after the colon is not part of the value.
func cutField(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte{':'})
	return name, bytes.TrimPrefix(value, []byte{' '})
}

// readLine reads a line without its end; valid until the next call. At the end of the
// stream it returns the rest together with io.EOF.
func (l *lines) readLine() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.line = append(l.line[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = l.in.ReadSlice('\n')
			if len(l.line)+len(line) > MaxLine {
				return nil, errTooLong
			}
			l.line = append(l.line, line...)
		}
		line = l.line
	}
	if !l.begun {
		l.begun = true
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), err
}
