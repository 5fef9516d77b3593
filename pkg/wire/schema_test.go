package wire_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"
)

// A kind that is added to the schema is converted: each member of each oneof decodes to a
// known kind, and encodes as the same member.
func TestEveryOneofMemberIsConverted(t *testing.T) {
	anItem := &poddv1.Item{Kind: &poddv1.Item_UserMessage{UserMessage: &poddv1.UserMessage{Text: "a"}}}
	eachMember(t, &poddv1.Entry{}, func(p *poddv1.Entry, field protoreflect.FieldDescriptor) proto.Message {
		switch k := p.GetKind().(type) {
		case *poddv1.Entry_Item:
			k.Item = anItem
		case *poddv1.Entry_Compaction:
			k.Compaction.Summary = anItem
		}
		kind := wire.EntryFromProto(p).Kind
		if got := wire.KindName(kind); got != string(field.Name()) {
			t.Errorf("%T is called %q, want %q", kind, got, field.Name())
		}
		body := mustEncode(t, item.Entry{Kind: kind})
		if got := wire.KindOf(body); got != wire.KindNumber(field.Number()) {
			t.Errorf("%s: KindOf is %d, want %d", field.Name(), got, field.Number())
		}
		if got, _ := wire.Peek(body); got != wire.KindNumber(field.Number()) {
			t.Errorf("%s: Peek finds the kind %d, want %d", field.Name(), got, field.Number())
		}
		return wire.EntryToProto(item.Entry{Kind: kind})
	})
	eachMember(t, &poddv1.Item{}, func(p *poddv1.Item, field protoreflect.FieldDescriptor) proto.Message {
		it := wire.ItemFromProto(p)
		body := mustEncode(t, item.Entry{Seq: 7, Time: time.Unix(1, 2), Turn: 3, Kind: item.ItemAdded{Item: it}})
		if kind, got := wire.Peek(body); kind != wire.KindItem || got != wire.ItemNumber(field.Number()) {
			t.Errorf("%s: Peek finds the kind %d and the item %d, want %d", field.Name(), kind, got, field.Number())
		}
		return wire.ItemToProto(it)
	})
	eachMember(t, &poddv1.Segment{}, func(p *poddv1.Segment, _ protoreflect.FieldDescriptor) proto.Message {
		return wire.SegmentToProto(wire.SegmentFromProto(p))
	})
}

// eachMember converts one message for each member of the oneof "kind" there and back.
func eachMember[M proto.Message](t *testing.T, empty M, convert func(M, protoreflect.FieldDescriptor) proto.Message) {
	t.Helper()
	oneof := empty.ProtoReflect().Descriptor().Oneofs().ByName("kind")
	for i := range oneof.Fields().Len() {
		field := oneof.Fields().Get(i)
		p := proto.Clone(empty).(M)
		p.ProtoReflect().Mutable(field)
		back := convert(p, field)
		if got := back.ProtoReflect().WhichOneof(oneof); got == nil || got.Number() != field.Number() {
			t.Errorf("%s comes back as %v", field.FullName(), got)
		}
	}
}

// A field that is added to the schema is set: if no field of the value is empty, none of
// the message is.
func TestEveryFieldIsFilled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wantFilled(t, wire.EntryToProto(fullValue.entry().Draw(t, "entry")))
		wantFilled(t, wire.PodToProto(generate[item.Pod](fullValue).Draw(t, "pod")))
		wantFilled(t, wire.DeltaToProto(generate[item.Delta](fullValue).Draw(t, "delta")))
	})
}

// mayBeZero are the fields in which zero is a value: a full second, 1970.
var mayBeZero = protoreflect.FullName("google.protobuf.Timestamp")

// sentOrStored has other fields as a client sends it than as it is stored.
var sentOrStored = protoreflect.FullName("podd.v1.ImageSegment")

func wantFilled(t *rapid.T, p proto.Message) {
	m := p.ProtoReflect()
	if m.Descriptor().FullName() == mayBeZero {
		return
	}
	for i := range m.Descriptor().Fields().Len() {
		field := m.Descriptor().Fields().Get(i)
		switch {
		case field.ContainingOneof() != nil && !m.Has(field):
		case !m.Has(field) && m.Descriptor().FullName() == sentOrStored:
		case !m.Has(field):
			t.Errorf("%s is empty", field.FullName())
		case field.IsList() && field.Message() != nil:
			wantFilled(t, m.Get(field).List().Get(0).Message().Interface())
		case field.Message() != nil:
			wantFilled(t, m.Get(field).Message().Interface())
		}
	}
}

// Each number of each enum has a unique name, and the name maps back to the number.
func TestEveryEnumValueIsNamed(t *testing.T) {
	for _, c := range []struct {
		enum  protoreflect.Enum
		there func(protoreflect.EnumNumber) string
		back  func(string) protoreflect.EnumNumber
	}{
		{
			poddv1.Outcome(0),
			func(n protoreflect.EnumNumber) string {
				p := &poddv1.Entry{Kind: &poddv1.Entry_TurnEnded{TurnEnded: &poddv1.TurnEnded{Outcome: poddv1.Outcome(n)}}}
				return string(wire.EntryFromProto(p).Kind.(item.TurnEnded).Outcome)
			},
			func(s string) protoreflect.EnumNumber {
				p := wire.EntryToProto(item.Entry{Kind: item.TurnEnded{Outcome: item.Outcome(s)}})
				return p.GetTurnEnded().GetOutcome().Number()
			},
		},
		{
			poddv1.OutputKind(0),
			func(n protoreflect.EnumNumber) string {
				p := &poddv1.Item{Kind: &poddv1.Item_ToolResult{ToolResult: &poddv1.ToolResult{Kind: poddv1.OutputKind(n)}}}
				return string(wire.ItemFromProto(p).(item.ToolResult).Kind)
			},
			func(s string) protoreflect.EnumNumber {
				p := wire.ItemToProto(item.ToolResult{Output: item.Output{Kind: item.OutputKind(s)}})
				return p.GetToolResult().GetKind().Number()
			},
		},
		{
			poddv1.SubmitMode(0),
			func(n protoreflect.EnumNumber) string { return string(wire.SubmitModeFromProto(poddv1.SubmitMode(n))) },
			func(s string) protoreflect.EnumNumber { return wire.SubmitModeToProto(item.SubmitMode(s)).Number() },
		},
		{
			poddv1.AlertLevel(0),
			func(n protoreflect.EnumNumber) string {
				return string(wire.AlertFromProto(&poddv1.Alert{Level: poddv1.AlertLevel(n)}).Level)
			},
			func(s string) protoreflect.EnumNumber {
				return wire.AlertToProto(item.Alert{Level: item.Level(s)}).GetLevel().Number()
			},
		},
		{
			poddv1.PodState(0),
			func(n protoreflect.EnumNumber) string {
				return string(wire.PodFromProto(&poddv1.Pod{State: poddv1.PodState(n)}).Status.State)
			},
			func(s string) protoreflect.EnumNumber {
				return wire.PodToProto(item.Pod{Status: item.PodStatus{State: item.State(s)}}).GetState().Number()
			},
		},
		{
			poddv1.DeltaKind(0),
			func(n protoreflect.EnumNumber) string {
				return string(wire.DeltaFromProto(&poddv1.Delta{Kind: poddv1.DeltaKind(n)}).Kind)
			},
			func(s string) protoreflect.EnumNumber {
				return wire.DeltaToProto(item.Delta{Kind: item.DeltaKind(s)}).GetKind().Number()
			},
		},
	} {
		values := c.enum.Descriptor().Values()
		for i := range values.Len() {
			number := values.Get(i).Number()
			name := c.there(number)
			if (name == "") != (number == 0) {
				t.Errorf("%s is named %q", values.Get(i).FullName(), name)
			}
			if got := c.back(name); got != number {
				t.Errorf("%s: name %q gives %d, want %d", values.Get(i).FullName(), name, got, number)
			}
		}
		if got := c.back("no such name"); got != 0 {
			t.Errorf("%s: an unknown name gives %d", c.enum.Descriptor().FullName(), got)
		}
	}
}

// A kind that is added to pkg/item is converted, too: these tests generate the types that
// its sources declare.
func TestEveryGoKindIsGenerated(t *testing.T) {
	known := map[string][]string{
		"isKind":    {"UnknownKind"},
		"isItem":    {},
		"isSegment": {},
	}
	rapid.Check(t, func(t *rapid.T) {
		note := func(marker string, v any) {
			if name := reflect.TypeOf(v).Name(); !slices.Contains(known[marker], name) {
				known[marker] = append(known[marker], name)
			}
		}
		for range 20 {
			note("isKind", anyValue.kind().Draw(t, "kind"))
			note("isItem", anyValue.item().Draw(t, "item"))
			note("isSegment", anyValue.segment().Draw(t, "segment"))
		}
	})
	declared := markedTypes(t, "../../pkg/item")
	for marker, names := range known {
		slices.Sort(names)
		if !slices.Equal(names, declared[marker]) {
			t.Errorf("%s: generated %v\ndeclared %v", marker, names, declared[marker])
		}
	}
}

// markedTypes returns the types in dir by their methods without parameters and results.
func markedTypes(t *testing.T, dir string) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	types := map[string][]string{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			if receiver, ok := fn.Recv.List[0].Type.(*ast.Ident); ok {
				types[fn.Name.Name] = append(types[fn.Name.Name], receiver.Name)
			}
		}
	}
	for _, names := range types {
		slices.Sort(names)
	}
	return types
}
