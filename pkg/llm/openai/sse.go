package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine bounds a line of a stream, and so the memory that an endpoint can take.
const maxLine = 16 << 20

// errTooLong says that the endpoint sent a line, an event or an answer beyond its
// limit.
var errTooLong = errors.New("a message of the stream is too long")

// sseReader reads server-sent events: the fields event and data, lines that end
// with LF or CRLF, comments skipped. The other fields have no use here.
type sseReader struct {
	in    *bufio.Reader
	begun bool
	event []byte
	data  []byte
	line  []byte
}

func newSSEReader(r io.Reader) *sseReader {
	return &sseReader{in: bufio.NewReaderSize(r, 32<<10)}
}

// sseEvent is one event. Its bytes are valid until the next call of next.
type sseEvent struct {
	name, data []byte
	// cut says that the stream ended within the event: a last line without its end
	// or without the blank line that closes an event.
	cut bool
}

// next reads one event that has data. At the end of the stream it gives what
// stands unfinished, and io.EOF only when nothing does.
func (s *sseReader) next() (sseEvent, error) {
	s.event, s.data = s.event[:0], s.data[:0]
	seen := false
	for {
		line, err := s.readLine()
		if err != nil && !(errors.Is(err, io.EOF) && (len(line) > 0 || seen)) {
			return sseEvent{}, err
		}
		if len(line) == 0 && err == nil {
			if seen {
				return sseEvent{name: s.event, data: s.data}, nil
			}
			s.event = s.event[:0]
			continue
		}
		name, value := cutField(line)
		switch string(name) {
		case "data":
			if len(s.data)+len(value) > maxLine {
				return sseEvent{}, errTooLong
			}
			if seen {
				s.data = append(s.data, '\n')
			}
			s.data = append(s.data, value...)
			seen = true
		case "event":
			s.event = append(s.event[:0], value...)
		}
		if err != nil {
			if !seen {
				return sseEvent{}, io.EOF
			}
			return sseEvent{name: s.event, data: s.data, cut: true}, nil
		}
	}
}

// cutField splits "name: value"; one space after the colon is not of the value.
func cutField(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte{':'})
	return name, bytes.TrimPrefix(value, []byte{' '})
}

// readLine reads a line without its end; valid until the next call. At the end of
// the stream it gives the rest together with io.EOF.
func (s *sseReader) readLine() ([]byte, error) {
	line, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		s.line = append(s.line[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = s.in.ReadSlice('\n')
			if len(s.line)+len(line) > maxLine {
				return nil, errTooLong
			}
			s.line = append(s.line, line...)
		}
		line = s.line
	}
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), err
}
