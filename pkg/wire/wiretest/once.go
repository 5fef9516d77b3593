// Package wiretest checks encoded messages in tests.
package wiretest

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Once checks that an encoded message, and each message in it, has every singular field at
// most once, and one field of a oneof. Go's decoder merges a repeated message field; decoders
// that keep the last one, such as those of TypeScript, lose the content of the first.
func Once(m protoreflect.MessageDescriptor, body []byte) error {
	seen := map[protoreflect.FullName]bool{}
	for len(body) > 0 {
		number, wireType, n := protowire.ConsumeTag(body)
		if n < 0 {
			return fmt.Errorf("%s: malformed tag: %w", m.FullName(), protowire.ParseError(n))
		}
		value := body[n:]
		if n = protowire.ConsumeFieldValue(number, wireType, value); n < 0 {
			return fmt.Errorf("%s: malformed field %d: %w", m.FullName(), number, protowire.ParseError(n))
		}
		body = value[n:]
		f := m.Fields().ByNumber(number)
		if f == nil {
			return fmt.Errorf("%s: unknown field %d", m.FullName(), number)
		}
		name := f.FullName()
		if o := f.ContainingOneof(); o != nil {
			name = o.FullName()
		}
		if seen[name] && !f.IsList() && !f.IsMap() {
			return fmt.Errorf("%s occurs twice", name)
		}
		seen[name] = true
		if f.Message() == nil {
			continue
		}
		inner, _ := protowire.ConsumeBytes(value)
		if err := Once(f.Message(), inner); err != nil {
			return err
		}
	}
	return nil
}
