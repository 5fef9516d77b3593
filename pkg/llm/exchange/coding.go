package exchange

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"
)

// maxCodings bounds how often a body is compressed.
const maxCodings = 3

// decompressed decompresses the bodies of responses. podd asks for none, but gateways send
// them, with and without the header that says so.
type decompressed struct {
	next http.RoundTripper
}

// RoundTrip does the request.
func (t decompressed) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err == nil {
		coding := resp.Header.Get("Content-Encoding")
		resp.Body = &decompressedBody{Closer: resp.Body, in: resp.Body, coding: strings.ToLower(coding), left: maxAnswer}
	}
	return resp, err
}

// decompressedBody decides with the first read: by its bytes, because headers are wrong, and by
// the header if the bytes have no mark.
type decompressedBody struct {
	io.Closer
	in     io.Reader
	coding string
	// begun says that in is decompressed, err why it cannot be.
	begun bool
	err   error
	// left bounds what is read, in bytes: a little can decompress to very much.
	left int64
}

// Read reads what is decompressed.
func (b *decompressedBody) Read(p []byte) (int, error) {
	for ; !b.begun && b.err == nil; b.begun = true {
		b.in, b.err = decompress(b.in, b.coding)
	}
	switch {
	case b.err != nil:
		return 0, b.err
	case b.left <= 0:
		return 0, errTooLong
	}
	n, err := b.in.Read(p)
	b.left -= int64(n)
	return n, err
}

// unknownCoding is the coding of a body that podd cannot decompress.
type unknownCoding string

// Error says so.
func (c unknownCoding) Error() string { return "the body is compressed as " + string(c) }

// decompress returns the plain text of a body.
func decompress(body io.Reader, coding string) (io.Reader, error) {
	var err error
	for range maxCodings {
		in := bufio.NewReader(body)
		// The header of gzip has ten bytes; a message is longer.
		if _, err = in.Peek(2); err != nil {
			return in, nil //nolint:nilerr // the reader reports it
		}
		head, _ := in.Peek(in.Buffered())
		switch {
		case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
			body, err = gzip.NewReader(in)
		case bytes.HasPrefix(head, []byte{0x28, 0xb5}):
			return nil, unknownCoding("zstd")
		case isText(head):
			return in, nil
		case head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0:
			body, err = zlib.NewReader(in)
		case strings.Contains(coding, "deflate"):
			body = flate.NewReader(in)
		case coding == "" || coding == "identity":
			return in, nil
		default:
			return nil, unknownCoding(coding)
		}
		if err != nil {
			return nil, err
		}
	}
	return body, nil
}

// isText says whether bytes are the beginning of a text.
func isText(head []byte) bool {
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		switch {
		case r == utf8.RuneError && n == 1:
			return !utf8.FullRune(head)
		case r < ' ' && r != '\n' && r != '\r' && r != '\t':
			return false
		}
		head = head[n:]
	}
	return true
}
