package bridge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"podd/pkg/client"
	"podd/pkg/item"
)

const (
	// maxLine is the longest line of a client, in bytes, without its end: a message
	// that has to be escaped a lot still fits.
	maxLine = 2 * client.MaxMessageBytes
	// maxID is the longest id of a request, in bytes of JSON.
	maxID = 128
)

// request is a line of the client.
type request struct {
	// ID is a string or a number, as the client wrote it; nil when there is none.
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// parse reads a line. With an error, the request has the id where one could be read.
func parse(line []byte) (request, error) {
	var r request
	if !json.Valid(line) {
		return r, badLine("it is no JSON")
	}
	in := json.NewDecoder(bytes.NewReader(line))
	in.DisallowUnknownFields()
	err := in.Decode(&r)
	r.ID = bytes.TrimSpace(r.ID)
	if !goodID(r.ID) {
		r.ID = nil
	}
	switch {
	case err != nil:
		return r, badLine(strings.TrimPrefix(err.Error(), "json: "))
	case r.ID == nil:
		return r, badLine("it has no id, or one that is neither a number nor a string of at most 120 bytes")
	case r.Method == "":
		return r, badLine("it names no method")
	}
	return r, nil
}

// goodID says whether an id is a number or a string, and short.
func goodID(id json.RawMessage) bool {
	return len(id) > 0 && len(id) <= maxID && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

func badLine(why string) error {
	return item.Errorf(item.KindInvalid, "BAD_LINE",
		`the line cannot be taken: %s; a request is one line like {"id": 1, "method": "ListPods", "params": {}}`, why)
}

// lines reads lines of at most limit bytes and hands each to take; long ones, whose
// bytes are dropped, as errLong. It ends with the input, or when take wants no more.
func lines(in io.Reader, limit int, take func(line []byte, err error) bool) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, long, err := oneLine(r, limit)
		switch {
		case long:
			if !take(nil, errLong) {
				return nil
			}
		case len(bytes.TrimSpace(line)) > 0:
			if !take(line, nil) {
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

var errLong = item.Errorf(item.KindExhausted, "LINE_TOO_LONG",
	"the line has more than %d MiB and was not read: put large text into a file and refer to it", maxLine>>20)

// oneLine reads to the end of a line, which it leaves out. Of a long line it keeps
// nothing.
func oneLine(r *bufio.Reader, limit int) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		end := bytes.TrimSuffix(part, []byte("\n"))
		if long = long || len(line)+len(end) > limit; long {
			line = nil
		} else {
			line = append(line, end...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}
