package wire

import (
	"bytes"
	"encoding/json"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// EntryJSON is an entry as clients print it: protobuf's JSON with the names of the proto
// file and with default values, on one line.
func EntryJSON(e item.Entry) ([]byte, error) { return JSON(EntryToProto(e)) }

// AlertJSON is an alert in the same form.
func AlertJSON(a item.Alert) ([]byte, error) { return JSON(AlertToProto(a)) }

// JSON is any message in the same form: the output of podctl and its bridge, and the
// input of hooks.
func JSON(m proto.Message) ([]byte, error) {
	loose, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	// protojson varies its spaces on purpose.
	var line bytes.Buffer
	if err := json.Compact(&line, loose); err != nil {
		return nil, err
	}
	return line.Bytes(), nil
}

// KindNames are the names of all kinds of entries, in the order of their numbers.
func KindNames() []string {
	var names []string
	fields := (*poddv1.Entry)(nil).ProtoReflect().Descriptor().Fields()
	for n := KindSubmitted; n <= KindAlert; n++ {
		names = append(names, string(fields.ByNumber(protoreflect.FieldNumber(n)).Name()))
	}
	return names
}

// KindName is the name of a kind, such as "turn_ended"; empty for one that this podd
// does not know.
func KindName(kind item.Kind) string {
	m := EntryToProto(item.Entry{Kind: kind}).ProtoReflect()
	field := m.WhichOneof(m.Descriptor().Oneofs().ByName("kind"))
	if field == nil {
		return ""
	}
	return string(field.Name())
}
