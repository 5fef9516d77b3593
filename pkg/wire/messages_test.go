package wire_test

import (
	"bytes"
	"reflect"
	"testing"

	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// Records of pods, alerts and fragments survive a round trip.
func TestMessagesRoundTrip(t *testing.T) {
	t.Run("pod", rapid.MakeCheck(func(t *rapid.T) {
		roundTrip(t, generate[item.Pod](anyValue).Draw(t, "pod"), wire.EncodePod, wire.DecodePod)
	}))
	t.Run("alert", rapid.MakeCheck(func(t *rapid.T) {
		roundTrip(t, generate[item.Alert](anyValue).Draw(t, "alert"), wire.EncodeAlert, wire.DecodeAlert)
	}))
	t.Run("alerts", rapid.MakeCheck(func(t *rapid.T) {
		want := lists(anyValue, generate[item.Alert](anyValue)).Draw(t, "alerts")
		var got []item.Alert
		for _, a := range wire.AlertsToProto(want) {
			got = append(got, wire.AlertFromProto(a))
		}
		wantEqual(t, got, want)
	}))
	t.Run("delta", rapid.MakeCheck(func(t *rapid.T) {
		want := generate[item.Delta](anyValue).Draw(t, "delta")
		wantEqual(t, wire.DeltaFromProto(wire.DeltaToProto(want)), want)
	}))
	t.Run("in flight", rapid.MakeCheck(func(t *rapid.T) {
		want := lists(anyValue, generate[item.Delta](anyValue)).Draw(t, "blocks")
		wantEqual(t, wire.InFlightFromProto(wire.InFlightToProto(want)), want)
	}))
	t.Run("joined pod", rapid.MakeCheck(func(t *rapid.T) {
		record, status := generate[item.Pod](anyValue).Draw(t, "record"), generate[item.Pod](anyValue).Draw(t, "status")
		got, err := wire.JoinPod(encodePod(t, record), encodePod(t, status))
		if err != nil {
			t.Fatal(err)
		}
		want := item.Pod{ID: record.ID, Name: record.Name, Spec: record.Spec, CreatedAt: record.CreatedAt, Status: status.Status}
		wantEqual(t, got, want)
	}))
}

func encodePod(t *rapid.T, pod item.Pod) []byte {
	body, err := wire.EncodePod(pod)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// Invalid bytes of a pod are refused.
func TestMalformedPodIsNotJoined(t *testing.T) {
	malformed := []byte{0x1a, 9, 1}
	for _, two := range [][2][]byte{{malformed, nil}, {nil, malformed}} {
		if p, err := wire.JoinPod(two[0], two[1]); err == nil {
			t.Errorf("%x and %x became %v", two[0], two[1], p)
		}
	}
}

// A message that a client omitted is the zero value.
func TestAbsentMessages(t *testing.T) {
	wantEqual(t, wire.PodFromProto(nil), item.Pod{})
	wantEqual(t, wire.PodSpecFromProto(nil), item.PodSpec{})
	wantEqual(t, wire.AlertFromProto(nil), item.Alert{})
	wantEqual(t, wire.UsageFromProto(nil), item.Usage{})
	wantEqual(t, wire.DeltaFromProto(nil), item.Delta{})
	wantEqual(t, wire.InFlightFromProto(nil), nil)
	wantEqual(t, wire.ItemFromProto(nil), nil)
	wantEqual(t, wire.SegmentFromProto(nil), item.Segment(item.UnknownSegment{}))
	wantEqual(t, wire.EntryFromProto(nil), item.Entry{Kind: item.UnknownKind{}})
}

// The spec of a pod in a clone, which earlier versions made, is read without what was said of the clone.
func TestSpecOfClone(t *testing.T) {
	spec := item.PodSpec{Dir: "/state/p.1/app", Checkout: item.Checkout{Source: "file:///srv/app.git", Branch: "podd/p", Base: "0123"}}
	of, err := proto.Marshal(wire.PodSpecToProto(spec).GetCheckout())
	if err != nil {
		t.Fatal(err)
	}
	of = append(of, "\x22\x0e/state/p.1/app\x2a\x02n1"...)
	stored := &poddv1.PodSpec{Dir: spec.Dir, Checkout: new(poddv1.Checkout)}
	if err := proto.Unmarshal(of, stored.GetCheckout()); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, wire.PodSpecFromProto(stored), spec)
}

func TestDecodeMalformedRecords(t *testing.T) {
	if pod, err := wire.DecodePod([]byte("\xff")); err == nil {
		t.Errorf("DecodePod gave %#v", pod)
	}
	if alert, err := wire.DecodeAlert([]byte("\xff")); err == nil {
		t.Errorf("DecodeAlert gave %#v", alert)
	}
}

// KindOf runs at every read and must not allocate.
func TestKindOfAllocatesNothing(t *testing.T) {
	body := mustEncode(t, item.Entry{Seq: 1, Turn: 2, Kind: item.Note{Text: "a"}})
	if n := testing.AllocsPerRun(100, func() { wire.KindOf(body) }); n != 0 {
		t.Errorf("KindOf allocates %v times", n)
	}
}

func TestKindOfMalformed(t *testing.T) {
	good := mustEncode(t, item.Entry{Kind: item.Note{Text: "hello"}})
	for name, body := range map[string][]byte{
		"empty":                   nil,
		"cut":                     good[:len(good)-1],
		"tail of garbage":         append(bytes.Clone(good), 0xff),
		"number in a kind's slot": {17 << 3 & 0xff, 1, 5},
		"later kind":              {0xfa, 0x01, 0},
	} {
		if got := wire.KindOf(body); got != 0 {
			t.Errorf("%s: KindOf is %d", name, got)
		}
	}
}

// shellResult is a typical entry: 4 KB of command output.
func shellResult() item.Entry {
	return item.Entry{Seq: 1, Turn: 2, Kind: item.ItemAdded{Item: item.ToolResult{
		CallID: "call_1", Tool: "shell",
		Output: item.Output{Summary: "shell: go test, exit 0", Content: string(bytes.Repeat([]byte("ok  podd 0.1s\n"), 300))},
	}}}
}

func BenchmarkEncodeEntry(b *testing.B) {
	e := shellResult()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.EncodeEntry(e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeEntry(b *testing.B) {
	body, err := wire.EncodeEntry(shellResult())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.DecodeEntry(body); err != nil {
			b.Fatal(err)
		}
	}
}

func roundTrip[V any](t *rapid.T, want V, encode func(V) ([]byte, error), decode func([]byte) (V, error)) {
	body, err := encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(body)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, got, want)
}

func wantEqual[V any](t interface{ Fatalf(string, ...any) }, got, want V) {
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %#v\nwant %#v", got, want)
	}
}
