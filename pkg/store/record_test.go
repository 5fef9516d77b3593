package store_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/wire"

	"pgregory.net/rapid"
)

// A record yields its entry with its sequence, only for its pod and sequence, and not
// when any one of its bytes changes.
func TestRecordIsBoundToItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pod := rapid.StringMatching(`[a-z0-9]{1,20}`).Draw(t, "pod")
		seq := item.Seq(rapid.Int64Range(1, math.MaxInt64-1).Draw(t, "seq"))
		want := item.Entry{Seq: seq, Time: time.Unix(1, 2).UTC(), Kind: item.Note{Text: rapid.String().Draw(t, "text")}}
		unnumbered := want
		unnumbered.Seq = 0
		body, err := wire.EncodeEntry(unnumbered)
		if err != nil {
			t.Fatal(err)
		}
		record := store.NewRecord(pod, seq, body)
		got, ok := store.OpenRecord(pod, seq, record)
		if whole, _ := wire.EncodeEntry(want); !ok || !bytes.Equal(got, whole) {
			t.Fatalf("record gives %x, %v; want %x", got, ok, whole)
		}
		if _, ok := store.OpenRecord(pod+"x", seq, record); ok {
			t.Error("it is good in another pod")
		}
		if _, ok := store.OpenRecord(pod, seq+1, record); ok {
			t.Error("it is good under the next sequence")
		}
		at := rapid.IntRange(0, len(record)-1).Draw(t, "at")
		broken := bytes.Clone(record)
		broken[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		if _, ok := store.OpenRecord(pod, seq, broken); ok {
			t.Errorf("it is good with another byte at %d", at)
		}
		if _, ok := store.OpenRecord(pod, seq, record[:at]); ok {
			t.Errorf("it is good when cut at %d", at)
		}
	})
}

// A sealed value is valid only in its bucket and under its key.
func TestSealIsBoundToItsPlace(t *testing.T) {
	sealed := store.Seal([]byte("heads"), []byte("p"), []byte("body"))
	if body, ok := store.ReadSealed([]byte("heads"), []byte("p"), sealed); !ok || string(body) != "body" {
		t.Fatalf("sealed value gives %q, %v", body, ok)
	}
	for _, place := range [][2]string{{"heads", "q"}, {"pods", "p"}, {"head", "sp"}} {
		if _, ok := store.ReadSealed([]byte(place[0]), []byte(place[1]), sealed); ok {
			t.Errorf("it is good at %q", place)
		}
	}
}

// No bytes make decoding panic, and whatever decodes is a record: encoding its entry
// gives the same bytes.
func FuzzOpenRecord(f *testing.F) {
	body, err := wire.EncodeEntry(item.Entry{Time: time.Unix(1, 2), Kind: item.Note{Text: "hello"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("p", int64(1), store.NewRecord("p", 1, body))
	f.Add("p", int64(300), store.NewRecord("p", 300, body))
	f.Add("p", int64(1), store.NewRecord("p", 1, nil))
	f.Add("p", int64(1), store.NewRecord("p", 2, body)[:6])
	f.Add("", int64(0), []byte{})
	f.Add("p", int64(-1), []byte{0, 0, 0, 0, 8})
	f.Fuzz(func(t *testing.T, pod string, seq int64, value []byte) {
		entry, ok := store.OpenRecord(pod, item.Seq(seq), value)
		if !ok || seq == 0 {
			return
		}
		prefix := wire.WithSeq(item.Seq(seq), nil)
		if again := store.NewRecord(pod, item.Seq(seq), entry[len(prefix):]); !bytes.Equal(again, value) {
			t.Errorf("%x was read as the record %x", value, again)
		}
		_, _ = wire.DecodeEntry(entry)
	})
}

// No bytes make the readers of sealed values panic.
func FuzzReadSealed(f *testing.F) {
	f.Add([]byte("heads"), []byte("p"), []byte("body"))
	f.Add([]byte("heads"), []byte("p"), make([]byte, 44))
	f.Add([]byte("requests"), []byte("p\x00r"), make([]byte, 41))
	f.Add([]byte("alerts"), []byte{0, 0, 0, 0, 0, 0, 0, 1}, []byte{8, 1})
	f.Add([]byte{}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, bucket, key, body []byte) {
		store.ReadSealed(bucket, key, body)
		if got, ok := store.ReadSealed(bucket, key, store.Seal(bucket, key, body)); !ok || !bytes.Equal(got, body) {
			t.Errorf("a sealed %x gives %x, %v", body, got, ok)
		}
	})
}
