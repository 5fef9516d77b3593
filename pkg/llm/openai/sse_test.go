package openai_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"podd/pkg/llm/openai"
)

func TestMessages(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	type msg = openai.Message
	for name, tc := range map[string]struct {
		in   string
		want []msg
	}{
		"two":                      {"data: a\n\ndata: b\n\n", []msg{{Data: "a"}, {Data: "b"}}},
		"no space":                 {"data:a\n\n", []msg{{Data: "a"}}},
		"one space is cut":         {"data:  a \n\n", []msg{{Data: " a "}}},
		"CRLF":                     {"data: a\r\n\r\ndata: b\r\n\r\n", []msg{{Data: "a"}, {Data: "b"}}},
		"lines are joined":         {"data: a\ndata\ndata: b\n\n", []msg{{Data: "a\n\nb"}}},
		"a name":                   {"event: x\ndata: a\n\ndata: b\n\n", []msg{{Name: "x", Data: "a"}, {Data: "b"}}},
		"the last name":            {"event: x\nevent: y\ndata: a\n\n", []msg{{Name: "y", Data: "a"}}},
		"a name without data":      {"event: x\n\ndata: a\n\n", []msg{{Data: "a"}}},
		"comments":                 {": hi\n:\ndata: a\n: in between\n\n: bye\n", []msg{{Data: "a"}}},
		"other fields":             {"id: 1\nretry: 5\nbogus\ndata: a\n\n", []msg{{Data: "a"}}},
		"blank lines":              {"\n\n\ndata: a\n\n\n\n", []msg{{Data: "a"}}},
		"a byte order mark":        {"\xef\xbb\xbfdata: a\n\n", []msg{{Data: "a"}}},
		"another one is no mark":   {"data: a\n\n\xef\xbb\xbfdata: b\n\n", []msg{{Data: "a"}}},
		"a long line":              {"data: " + long + "\n\ndata: b\n\n", []msg{{Data: long}, {Data: "b"}}},
		"no blank line at the end": {"data: a\n\ndata: b\n", []msg{{Data: "a"}, {Data: "b", Cut: true}}},
		"no newline at the end":    {"data: a\n\ndata: b", []msg{{Data: "a"}, {Data: "b", Cut: true}}},
		"half a field":             {"data: a\n\ndat", []msg{{Data: "a"}}},
		"nothing":                  {"", nil},
	} {
		for kind, r := range map[string]io.Reader{
			"at once": strings.NewReader(tc.in), "by bytes": iotest.OneByteReader(strings.NewReader(tc.in)), "with EOF": iotest.DataErrReader(strings.NewReader(tc.in)),
		} {
			got, err := openai.ReadMessages(r)
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("%s, %s: got %.200v, %v", name, kind, got, err)
			}
		}
	}
}

func TestMessagesAreBounded(t *testing.T) {
	line := strings.Repeat("x", openai.MaxLine+1)
	many := strings.Repeat("data: "+line[:1<<20]+"\n", openai.MaxLine>>20+1)
	for name, in := range map[string]string{"a line": "data: " + line, "an event": many, "a comment": ": " + line} {
		if _, err := openai.ReadMessages(strings.NewReader(in)); err == nil {
			t.Errorf("%s longer than the limit was read", name)
		}
	}
}

func TestMessagesPassErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	got, err := openai.ReadMessages(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// reference reads a stream with openai-go's decoder. It gives each message a last
// newline, and knows neither byte order marks nor messages that the end cuts.
func reference(data []byte) []openai.Message {
	d := ssestream.NewDecoder(&http.Response{Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))})
	var out []openai.Message
	for d.Next() {
		out = append(out, openai.Message{Name: d.Event().Type, Data: strings.TrimSuffix(string(d.Event().Data), "\n")})
	}
	return out
}

// same compares our messages with the reference.
func same(t *testing.T, data []byte) {
	t.Helper()
	got, err := openai.ReadMessages(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got); n > 0 && got[n-1].Cut {
		got = got[:n-1]
	}
	if want := reference(data); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestMessagesAreOpenAIGos(t *testing.T) {
	for name, data := range streamFiles(t) {
		t.Run(name, func(t *testing.T) { same(t, data) })
	}
}

func FuzzMessages(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: x\r\ndata: a\r\ndata: b\r\n\r\n", ": c\n\ndata\n\n", "data: a", "\xef\xbb\xbfdata: a\n\n", "data:\n\ndata: \n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		same(t, data)
	})
}

// FuzzStream feeds both decoders anything: no panic, and never an event after the
// end or out of order.
func FuzzStream(f *testing.F) {
	for _, data := range streamFiles(f) {
		f.Add(data)
	}
	byAPI := clients(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range byAPI {
			for _, kind := range []string{"text/event-stream", "application/json"} {
				checkStream(t, c, kind, data)
			}
		}
	})
}

// TestBentStreams does for each run what the fuzzer does for long: recorded streams
// with bytes cut out, doubled and changed.
func TestBentStreams(t *testing.T) {
	byAPI := clients(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, data := range streamFiles(t) {
		api, _, _ := strings.Cut(name, "-")
		for range 15 {
			bent := slices.Clone(data)
			for range 1 + rnd.IntN(3) {
				i := rnd.IntN(len(bent))
				j := min(len(bent), i+rnd.IntN(20))
				switch rnd.IntN(3) {
				case 0:
					bent = slices.Delete(bent, i, j)
				case 1:
					bent = slices.Insert(bent, i, slices.Clone(bent[i:j])...)
				case 2:
					bent[i] ^= byte(1 << rnd.IntN(8))
				}
			}
			checkStream(t, byAPI[api], "text/event-stream", bent)
		}
	}
}

// TestDeepNesting sends what would overflow the stack of a recursive reader.
func TestDeepNesting(t *testing.T) {
	deep := "data: " + strings.Repeat(`{"a":[`, 2<<20) + "\n\n"
	for _, c := range clients(t) {
		checkStream(t, c, "text/event-stream", []byte(deep))
		checkStream(t, c, "application/json", []byte(deep[6:]))
	}
}
