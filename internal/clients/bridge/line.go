package bridge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
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
	var id json.RawMessage
	err := decode(line, &r, func(key string, value json.RawMessage) {
		if key == "id" {
			id = value
		}
	})
	if r.ID = nil; goodID(id) {
		r.ID = id
	}
	switch {
	case err != nil:
		return r, badLine(err.Error())
	case r.ID == nil:
		return r, badLine("it has no id, or one that is neither a number nor a string of at most 120 bytes")
	case r.Method == "":
		return r, badLine("it names no method")
	}
	return r, nil
}

// decode reads JSON into a struct, and tells each key of the object that stands there once.
// encoding/json takes a key in any case of letters, and of a key that stands there twice the
// last: programs that read the same line otherwise would see another request.
func decode(data []byte, to any, each func(key string, value json.RawMessage)) error {
	values, err := object(data)
	var known []string
	for field := range reflect.TypeOf(to).Elem().Fields() {
		known = append(known, field.Tag.Get("json"))
	}
	for key, all := range values {
		switch {
		case !slices.Contains(known, key):
			err = fmt.Errorf("unknown field %q", key)
		case len(all) > 1:
			err = fmt.Errorf("%q is there twice", key)
		case each != nil:
			each(key, all[0])
		}
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// object are the values of each key of an object; none of what is no object.
func object(data []byte) (map[string][]json.RawMessage, error) {
	values := make(map[string][]json.RawMessage)
	in := json.NewDecoder(bytes.NewReader(data))
	if start, err := in.Token(); start != json.Delim('{') {
		return values, err
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return values, err
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return values, err
		}
		name, _ := key.(string)
		values[name] = append(values[name], value)
	}
	return values, nil
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
