package sanitize

import "io"

// Writer sanitises text that comes in fragments, cut anywhere, and writes what Terminal
// would return for the whole. It holds back a few bytes at most, whose meaning depends on
// the next ones; Flush at the end of the text writes them.
type Writer struct {
	dst  io.Writer
	scan scanner
	// held are the bytes held back; out is a buffer that Writes share.
	held, out []byte
}

// NewWriter writes to dst, in one Write for each fragment.
func NewWriter(dst io.Writer) *Writer { return &Writer{dst: dst} }

// Write sanitises a fragment and writes all but the bytes held back. An error is dst's
// own; the fragment is then lost and the count 0, because dst's count does not show how
// much of p was written.
func (w *Writer) Write(p []byte) (int, error) {
	src := p
	if len(w.held) > 0 {
		src = append(w.held, p...)
	}
	var rest []byte
	w.out, rest = w.scan.append(w.out[:0], src, false)
	w.held = append(w.held[:0], rest...)
	if err := w.send(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush ends the text: it writes the bytes held back, and the next Write begins a new
// text.
func (w *Writer) Flush() error {
	w.out, _ = w.scan.append(w.out[:0], w.held, true)
	w.held, w.scan = w.held[:0], scanner{}
	return w.send()
}

func (w *Writer) send() error {
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.dst.Write(w.out)
	return err
}
