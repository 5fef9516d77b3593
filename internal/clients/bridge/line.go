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
	// maxLine is the longest line of a client, in bytes without the newline. It leaves room
	// for a message with many escapes.
	maxLine = 2 * client.MaxMessageBytes
	// maxID is the longest id of a request, in bytes of JSON.
	maxID = 128
)

// request is a line from the client.
type request struct {
	// ID is a string or a number, as the client wrote it; nil if it is missing.
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// parse reads a line. If it fails, the request still has its id if that could be read.
func parse(line []byte) (request, error) {
	var r request
	if !json.Valid(line) {
		return r, badLine("it is not valid JSON")
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
		return r, badLine("it needs an id: a number or a string of at most 120 bytes")
	case r.Method == "":
		return r, badLine("it has no method")
	}
	return r, nil
}

// decode reads JSON into a struct and refuses unknown and repeated keys. encoding/json
// alone ignores the case of keys and takes the last of a repeated key, so another program
// could read the same line as a different request.
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
			err = fmt.Errorf("%q occurs twice", key)
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

// object are the values of each key of an object; nothing for other JSON.
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
		`invalid line: %s; write a request such as {"id": 1, "method": "ListPods", "params": {}}`, why)
}

// lines reads lines of at most limit bytes and passes each to take; a longer line is
// dropped and passed as errLong. It ends with the input, or when take wants no more.
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
	"the line is larger than %d MiB and was not read: put large text in a file and refer to it", maxLine>>20)

// oneLine reads a line without its newline. It drops a line that is too long.
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
