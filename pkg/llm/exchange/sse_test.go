package exchange_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/openai/openai-go/v3/packages/ssestream"
	"pgregory.net/rapid"

	"podd/pkg/llm/exchange"
)

func TestMessages(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	type msg = exchange.Message
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
			got, err := exchange.ReadMessages(r)
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("%s, %s: got %.200v, %v", name, kind, got, err)
			}
		}
	}
}

func TestMessagesAreBounded(t *testing.T) {
	line := strings.Repeat("x", exchange.MaxLine+1)
	many := strings.Repeat("data: "+line[:1<<20]+"\n", exchange.MaxLine>>20+1)
	for name, in := range map[string]string{"a line": "data: " + line, "an event": many, "a comment": ": " + line} {
		if _, err := exchange.ReadMessages(strings.NewReader(in)); err == nil {
			t.Errorf("%s longer than the limit was read", name)
		}
	}
}

func TestMessagesPassErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	got, err := exchange.ReadMessages(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// reference reads a stream with openai-go's decoder. It gives each message a last
// newline, and knows neither byte order marks nor messages that the end cuts.
func reference(data []byte) []exchange.Message {
	d := ssestream.NewDecoder(&http.Response{Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))})
	var out []exchange.Message
	for d.Next() {
		out = append(out, exchange.Message{Name: d.Event().Type, Data: strings.TrimSuffix(string(d.Event().Data), "\n")})
	}
	return out
}

// same compares our messages with the reference.
func same(t *testing.T, data []byte) {
	t.Helper()
	got, err := exchange.ReadMessages(bytes.NewReader(data))
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
	paths, err := filepath.Glob("../*/testdata/streams/*.sse")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(path), func(t *testing.T) { same(t, data) })
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

// inPieces returns what it reads in pieces of random sizes.
type inPieces struct {
	rest  []byte
	sizes []int
}

// Read returns the next piece.
func (r *inPieces) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := min(len(p), len(r.rest))
	if len(r.sizes) > 0 {
		n, r.sizes = min(n, r.sizes[0]), r.sizes[1:]
	}
	copy(p, r.rest[:n])
	r.rest = r.rest[n:]
	return n, nil
}

// However a stream is split on its way, it has the same messages as with openai-go.
func TestMessagesInPieces(t *testing.T) {
	lines := rapid.SampledFrom([]string{
		"data: {\"a\":1}", "data:{}", "data: ", "data", "data: two\ndata: lines", "event: ping", "event:", ": a comment", "id: 7", "retry: 10", "",
		"", "", "data: [DONE]", "data: \u00e9\u2713\U0001F600", "unknown: field", "data: " + strings.Repeat("x", 40<<10),
	})
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		text := strings.Join(rapid.SliceOfN(lines, 0, 30).Draw(t, "lines"), end)
		text = strings.ReplaceAll(text, "two\ndata", "two"+end+"data") + rapid.SampledFrom([]string{"", end, end + end}).Draw(t, "last")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 50), 0, 100).Draw(t, "sizes")
		got, err := exchange.ReadMessages(&inPieces{[]byte(text), sizes})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(got); n > 0 && got[n-1].Cut {
			got = got[:n-1]
		}
		if want := reference([]byte(text)); !slices.Equal(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	})
}
