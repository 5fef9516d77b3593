package wire_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// Decoding returns what was encoded, for each kind, and the bytes depend only on the
// entry.
func TestEntryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyValue.entry().Draw(t, "entry")
		body, err := wire.EncodeEntry(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := wire.DecodeEntry(body)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("decoded %#v\nwant    %#v", got, want)
		}
		if again, _ := wire.EncodeEntry(got); !bytes.Equal(again, body) {
			t.Fatalf("encoded again %x, want %x", again, body)
		}
	})
}

// A stored entry is encoded before its sequence is known. Adding the sequence gives the
// bytes of the whole entry, and so does the frame of a stream.
func TestSequenceIsAddedWithoutDecoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyValue.entry().Draw(t, "entry")
		seq := e.Seq
		e.Seq = 0
		body, err := wire.EncodeEntry(e)
		if err != nil {
			t.Fatal(err)
		}
		before := bytes.Clone(body)
		e.Seq = seq
		want, err := wire.EncodeEntry(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := wire.WithSeq(seq, body); !bytes.Equal(got, want) {
			t.Fatalf("WithSeq(%d) is %x, want %x", seq, got, want)
		}
		wantFrame, err := proto.Marshal(&poddv1.StreamResponse{
			Kind: &poddv1.StreamResponse_Entry{Entry: wire.EntryToProto(e)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := wire.StreamEntry(seq, body); !bytes.Equal(got, wantFrame) {
			t.Fatalf("StreamEntry(%d) is %x, want %x", seq, got, wantFrame)
		}
		if !bytes.Equal(body, before) {
			t.Fatalf("the body changed from %x to %x", before, body)
		}
	})
}

// WithSeq returns separate bytes, whatever room the body's slice has left.
func TestWithSeqCopies(t *testing.T) {
	body := make([]byte, 0, 64)
	body = append(body, mustEncode(t, item.Entry{Kind: item.Note{Text: "a"}})...)
	for _, seq := range []item.Seq{0, 1} {
		got := wire.WithSeq(seq, body)
		clear(got)
		if _, err := wire.DecodeEntry(body); err != nil {
			t.Errorf("after WithSeq(%d): %v", seq, err)
		}
	}
}

// Text of a model, a tool or a file may contain any bytes, in any field. It never fails
// to encode, and only the invalid bytes change.
func TestInvalidTextIsCleaned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyValue.entry().Draw(t, "entry")
		broken := reflect.New(reflect.TypeOf(e)).Elem()
		broken.Set(reflect.ValueOf(e))
		spoilt := spoil(broken).Interface().(item.Entry)
		body, err := wire.EncodeEntry(spoilt)
		if err != nil {
			t.Fatalf("encode %#v: %v", spoilt, err)
		}
		if _, err := wire.DecodeEntry(body); err != nil {
			t.Fatalf("decode: %v", err)
		}
	})
	e := item.Entry{Kind: item.Note{Text: "a\xff\xfeb\u00e9\xc3"}}
	got, err := wire.DecodeEntry(mustEncode(t, e))
	if want := (item.Note{Text: "a\ufffdb\u00e9\ufffd"}); err != nil || got.Kind != want {
		t.Errorf("got %#v, %v, want %#v", got.Kind, err, want)
	}
}

// spoil is a deep copy of v with an invalid byte at the end of each text. It does not
// change names of enumerations, which are not text on the wire.
func spoil(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
	case v.Type() == reflect.TypeFor[string]():
		out.SetString(v.String() + "\xff")
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(spoil(v.Field(i)))
		}
	case v.Kind() == reflect.Slice && v.Len() > 0:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(spoil(v.Index(i)))
		}
	case v.Kind() == reflect.Interface && !v.IsNil():
		out.Set(spoil(v.Elem()))
	case v.Kind() == reflect.Pointer && !v.IsNil():
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(spoil(v.Elem()))
	}
	return out
}

// An entry that could not be read back completely is not written.
func TestEncodeRefuses(t *testing.T) {
	for name, kind := range map[string]item.Kind{
		"no kind":              nil,
		"unknown kind":         item.UnknownKind{},
		"pointer to a kind":    &item.Note{Text: "a"},
		"no item":              item.ItemAdded{},
		"pointer to an item":   item.ItemAdded{Item: &item.UserMessage{Text: "a"}},
		"no summary":           item.Compaction{UpTo: 3},
		"no item in a submit":  item.Submitted{Items: []item.Item{item.UserMessage{}, nil}},
		"pointer in a submit":  item.Submitted{Items: []item.Item{&item.UserMessage{}}},
		"pointer in a summary": item.Compaction{Summary: &item.UserMessage{}},
	} {
		if body, err := wire.EncodeEntry(item.Entry{Kind: kind}); err == nil {
			t.Errorf("%s: encoded as %x", name, body)
		}
	}
}

// A newer podd may have written kinds, items and segments that this one does not know.
// They are not an error, and never a nil item.
func TestUnknownKinds(t *testing.T) {
	unknown := protowire.AppendTag(nil, 1000, protowire.BytesType)
	unknown = protowire.AppendBytes(unknown, []byte("later"))
	nested := func(number protowire.Number, body []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), body)
	}
	for name, c := range map[string]struct {
		body []byte
		want item.Kind
	}{
		"entry":              {unknown, item.UnknownKind{}},
		"empty":              {nil, item.UnknownKind{}},
		"item":               {nested(9, unknown), item.UnknownKind{}},
		"summary":            {nested(13, nested(1, unknown)), item.UnknownKind{}},
		"item of a submit":   {nested(4, nested(4, unknown)), item.UnknownKind{}},
		"segment":            {nested(4, nested(3, unknown)), item.Submitted{Segments: []item.Segment{item.UnknownSegment{}}}},
		"outcome":            {nested(7, []byte{8, 99}), item.TurnEnded{}},
		"next outcome":       {nested(7, []byte{8, 6}), item.TurnEnded{}},
		"negative outcome":   {nested(7, protowire.AppendVarint([]byte{8}, ^uint64(0))), item.TurnEnded{}},
		"level of an alert":  {nested(19, []byte{24, 99}), item.AlertRaised{}},
		"a field of a known": {nested(17, unknown), item.Note{}},
	} {
		got, err := wire.DecodeEntry(c.body)
		if err != nil || !reflect.DeepEqual(got.Kind, c.want) {
			t.Errorf("%s: got %#v, %v, want %#v", name, got.Kind, err, c.want)
		}
	}
}

func TestDecodeMalformed(t *testing.T) {
	good := mustEncode(t, item.Entry{Turn: 1, Kind: item.Note{Text: "hello"}})
	for name, body := range map[string][]byte{
		"cut":          good[:len(good)-1],
		"garbage":      []byte("\xff\xff\xff"),
		"invalid text": append(bytes.Clone(good[:len(good)-1]), 0xff),
	} {
		if e, err := wire.DecodeEntry(body); err == nil || !strings.HasPrefix(err.Error(), "decode entry: ") {
			t.Errorf("%s: got %#v, %v", name, e, err)
		}
	}
}

// A decoded entry must outlive the page that it was read from.
func TestDecodedEntrySharesNoMemory(t *testing.T) {
	want := item.Entry{Kind: item.ItemAdded{Item: item.ToolCall{
		CallID: "c1", Name: "shell", Arguments: "{}", Opaque: item.Opaque{API: "chat", Model: "m", JSON: `{"a":1}`},
	}}}
	body := mustEncode(t, want)
	got, err := wire.DecodeEntry(body)
	clear(body)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v, want %#v", got, err, want)
	}
}

// Numbers too large for their field are limited to its range instead of wrapping around.
func TestNumbersDoNotWrap(t *testing.T) {
	got, err := wire.DecodeEntry(mustEncode(t, item.Entry{Kind: item.TurnEnded{Steps: 1 << 40, ToolCalls: -1 << 40}}))
	want := item.TurnEnded{Steps: 1<<31 - 1, ToolCalls: -1 << 31}
	if err != nil || got.Kind != want {
		t.Errorf("got %#v, %v, want %#v", got.Kind, err, want)
	}
}

// A time keeps its nanoseconds and is UTC when decoded. The zero time is omitted, so that
// no client shows the year 1.
func TestTimeIsUTC(t *testing.T) {
	local := time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.FixedZone("east", 3600))
	for _, in := range []time.Time{local, {}} {
		got, err := wire.DecodeEntry(mustEncode(t, item.Entry{Time: in, Kind: item.Note{}}))
		if err != nil || got.Time != in.UTC() {
			t.Errorf("%v came back as %v, %v", in, got.Time, err)
		}
		if p := wire.EntryToProto(item.Entry{Time: in}); (p.GetTime() == nil) != in.IsZero() {
			t.Errorf("%v is sent as %v", in, p.GetTime())
		}
	}
}

// For any bytes, decoding does not panic; what it accepts has valid text and a kind, and
// a known kind can be encoded again.
func FuzzDecodeEntry(f *testing.F) {
	for _, kind := range []item.Kind{
		item.Note{Text: "a"},
		item.Submitted{RequestID: "r", Segments: []item.Segment{item.FileRef{Path: "p"}}, Items: []item.Item{item.UserMessage{Text: "u"}}},
		item.ItemAdded{Item: item.ToolResult{CallID: "c", Output: item.Output{Cut: &item.Cut{TotalBytes: 1}}}},
		item.Compaction{Summary: item.Reasoning{Opaque: item.Opaque{API: "responses", JSON: "{}"}}},
		item.Setup{Tools: []item.ToolSpec{{Name: "t", Schema: "{}"}}},
	} {
		f.Add(mustEncode(f, item.Entry{Seq: 7, Turn: 2, Kind: kind}))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		number := wire.KindOf(body)
		e, err := wire.DecodeEntry(body)
		if err != nil {
			return
		}
		if _, unknown := e.Kind.(item.UnknownKind); unknown {
			return
		}
		if note, ok := e.Kind.(item.Note); ok && !utf8.ValidString(note.Text) {
			t.Fatalf("invalid text %q", note.Text)
		}
		again, err := wire.EncodeEntry(e)
		if err != nil {
			t.Fatalf("encode %#v: %v", e, err)
		}
		if got := wire.KindOf(again); got != number {
			t.Fatalf("KindOf is %d, that of the decoded entry %d", number, got)
		}
		back, err := wire.DecodeEntry(again)
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Fatalf("decoded again %#v, %v\nwant %#v", back, err, e)
		}
	})
}

func mustEncode(t testing.TB, e item.Entry) []byte {
	t.Helper()
	body, err := wire.EncodeEntry(e)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// A result from before summaries were marked was not summarised, and its original size is
// that of its cut.
func TestResultsOfOlderLogs(t *testing.T) {
	for original, result := range map[int64]*poddv1.ToolResult{
		7:     {CallId: "c", Tool: "shell", Summary: "s", Content: "content"},
		9_000: {CallId: "c", Tool: "shell", Summary: "s", Content: "content", Cut: &poddv1.Cut{TotalBytes: 9_000, KeptBytes: 7, SpoolPath: "/x"}},
	} {
		body, err := proto.Marshal(&poddv1.Entry{Seq: 3, Kind: &poddv1.Entry_Item{Item: &poddv1.Item{Kind: &poddv1.Item_ToolResult{ToolResult: result}}}})
		if err != nil {
			t.Fatal(err)
		}
		entry, err := wire.DecodeEntry(body)
		if err != nil {
			t.Fatal(err)
		}
		added, ok := entry.Kind.(item.ItemAdded)
		if r, isResult := added.Item.(item.ToolResult); !ok || !isResult || r.Summarized || r.Content != "content" || r.OriginalBytes() != original {
			t.Errorf("%+v", entry.Kind)
		}
		again, err := wire.EncodeEntry(entry)
		if err != nil {
			t.Fatal(err)
		}
		var stored poddv1.Entry
		if err := proto.Unmarshal(again, &stored); err != nil || stored.GetItem().GetToolResult().GetOriginalBytes() != original {
			t.Errorf("stored as %v, %v", &stored, err)
		}
	}
}

// A checkpoint of an earlier version also has references of git that moved. They are skipped.
func TestCheckpointWithMovedReferences(t *testing.T) {
	moved := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), "HEAD")
	old := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), "1a2b")
	old = protowire.AppendBytes(protowire.AppendTag(old, 9, protowire.BytesType), moved)
	old = protowire.AppendVarint(protowire.AppendTag(old, 10, protowire.VarintType), 3)
	k := new(poddv1.Checkpoint)
	if err := proto.Unmarshal(old, k); err != nil {
		t.Fatal(err)
	}
	body, err := proto.Marshal(&poddv1.Entry{Kind: &poddv1.Entry_Checkpoint{Checkpoint: k}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := wire.DecodeEntry(body)
	if want := (item.Checkpoint{Commit: "1a2b"}); err != nil || e.Kind != want {
		t.Errorf("decoded %#v, %v; want %#v", e.Kind, err, want)
	}
}
