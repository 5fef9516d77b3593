package openai_test

import (
	"io"
	"slices"
	"testing"

	"podd/pkg/llm"
	"podd/pkg/llm/llmtest"
	"podd/pkg/llm/openai"
)

// TestTextOfOneRead: text that one read brings comes in one piece, before the next read, which
// may wait for the model.
func TestTextOfOneRead(t *testing.T) {
	t.Parallel()
	var got []string
	in := []struct {
		text  string
		after []string // the pieces that have come before it is read
	}{
		{chunk, nil},
		{chunk + chunk + chunk[:10], []string{"hello"}},
		{chunk[10:] + ": wait\n\n", []string{"hello", "hellohello"}},
		{final, []string{"hello", "hellohello", "hello"}},
	}
	read := func(p []byte) (int, error) {
		if len(in) == 0 {
			return 0, io.EOF
		}
		if !slices.Equal(got, in[0].after) {
			t.Errorf("before %q came %q, want %q", in[0].text, got, in[0].after)
		}
		n := copy(p, in[0].text)
		in = in[1:]
		return n, nil
	}
	for ev, err := range clients(t)[openai.APIChat].Decode(t.Context(), "text/event-stream", reader(read)) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := ev.(llm.BlockDelta); ok {
			got = append(got, d.Text)
		}
	}
}

// reader is the function of an io.Reader.
type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// FuzzStream feeds both decoders any input: no panic, and never an event after the end or
// out of order.
func FuzzStream(f *testing.F) {
	for _, data := range streamFiles(f) {
		f.Add(data)
	}
	read := decode(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for api := range clients(t) {
			for _, kind := range []string{"text/event-stream", "application/json"} {
				llmtest.CheckStream(t, read, api, kind, data)
			}
		}
	})
}
