package server

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// segmentName is the message whose unknown kinds are not refused: the submit gets a
// placeholder and an alert instead.
var segmentName = (*poddv1.Segment)(nil).ProtoReflect().Descriptor().FullName()

// checkKnown refuses a call that changes something and has fields or values that this podd
// does not know: ignoring them could give a pod other rights, or a submit another meaning,
// than the client asked for. Calls that only read ignore them.
func checkKnown(method string, req any) error {
	m, ok := req.(proto.Message)
	if !ok || !tokenCalls[method] && method != poddv1.PodService_Submit_FullMethodName {
		return nil
	}
	what := unknownIn(m.ProtoReflect())
	if what == "" {
		return nil
	}
	return item.Errorf(item.KindUnimplemented, "UNKNOWN_FIELD",
		"the running podd is older than this client and does not know %s of this call: install the newer podd, then run podd service restart", what)
}

// unknownIn names a part of a message that this program does not know, or is empty.
func unknownIn(m protoreflect.Message) (what string) {
	if m.Descriptor().FullName() == segmentName {
		return ""
	}
	if len(m.GetUnknown()) > 0 {
		return "a field in " + string(m.Descriptor().Name())
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				if what = unknownValue(f, v.List().Get(i)); what != "" {
					break
				}
			}
		default:
			what = unknownValue(f, v)
		}
		return what == ""
	})
	return what
}

func unknownValue(f protoreflect.FieldDescriptor, v protoreflect.Value) string {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return unknownIn(v.Message())
	case protoreflect.EnumKind:
		if f.Enum().Values().ByNumber(v.Enum()) == nil {
			return fmt.Sprintf("the value %d of %s", v.Enum(), f.Name())
		}
	}
	return ""
}
