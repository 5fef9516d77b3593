package sanitize_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"podd/internal/sanitize"
)

// A text in fragments shows like the whole text, wherever it was cut.
func TestWriterCutAnywhere(t *testing.T) {
	for _, text := range []string{
		"a\r\nb\rc\r", "größe 日本 👩‍❤️‍👨 👨‍👩‍👧 end", "👨\u200d", "👨\u200da", "x\xe2\x82", "\xe2\x28\xa1", "\x1b[31m\u202e1️⃣",
	} {
		want := sanitize.Terminal(text)
		for first := range len(text) + 1 {
			for second := first; second <= len(text); second++ {
				got := throughWriter(t, text[:first], text[first:second], text[second:])
				if got != want {
					t.Fatalf("%+q cut at %d and %d: got %+q, want %+q", text, first, second, got, want)
				}
			}
		}
	}
}

// Write holds back only the bytes whose meaning depends on the next fragment.
func TestWriterHoldsBackOnlyTheUndecided(t *testing.T) {
	var out bytes.Buffer
	w := sanitize.NewWriter(&out)
	for _, step := range []struct{ in, shown string }{
		{"ready", "ready"},
		{" 100%\r", " 100%"},
		{"\n", "\n"},
		{"\xe2\x82", ""},
		{"\xac", "€"},
		{"👨\u200d", "👨"},
		{"👩", "\u200d👩"},
		{"a\u200d", `a\u200d`},
	} {
		if n, err := io.WriteString(w, step.in); n != len(step.in) || err != nil {
			t.Fatalf("Write(%+q) = %d, %v", step.in, n, err)
		}
		if got := out.String(); got != step.shown {
			t.Errorf("after %+q: got %+q, want %+q", step.in, got, step.shown)
		}
		out.Reset()
	}
}

// Flush ends a text: the next text does not join it.
func TestWriterFlush(t *testing.T) {
	var out bytes.Buffer
	w := sanitize.NewWriter(&out)
	for _, text := range []string{"👨\u200d", "👩", "\ufe0f", "a\r", "\nb"} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.String(), "👨"+`\u200d`+"👩"+`\ufe0fa\r`+"\nb"; got != want {
		t.Errorf("got %+q, want %+q", got, want)
	}
}

func TestWriterReturnsTheErrorOfItsDestination(t *testing.T) {
	_, dst := io.Pipe()
	dst.Close()
	w := sanitize.NewWriter(dst)
	if n, err := io.WriteString(w, "a"); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Write gave %d, %v", n, err)
	}
	if _, err := io.WriteString(w, "\r"); err != nil {
		t.Errorf("a write that is held back gave %v", err)
	}
	if err := w.Flush(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Flush gave %v", err)
	}
}

func FuzzWriter(f *testing.F) {
	f.Add("a\r\nb👨\u200d👩", uint(2), uint(6))
	f.Add("\xf0\x9f\x91\xa8\u200d\xf0\x9f", uint(3), uint(8))
	f.Fuzz(func(t *testing.T, text string, first, second uint) {
		first = min(first, uint(len(text)))
		second = min(max(first, second), uint(len(text)))
		want := sanitize.Terminal(text)
		if got := throughWriter(t, text[:first], text[first:second], text[second:]); got != want {
			t.Fatalf("%+q cut at %d and %d: got %+q, want %+q", text, first, second, got, want)
		}
		bytewise := make([]string, len(text))
		for i := range bytewise {
			bytewise[i] = text[i : i+1]
		}
		if got := throughWriter(t, bytewise...); got != want {
			t.Fatalf("%+q byte by byte: got %+q, want %+q", text, got, want)
		}
	})
}

func throughWriter(t *testing.T, fragments ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := sanitize.NewWriter(&out)
	for _, fragment := range fragments {
		if n, err := io.WriteString(w, fragment); n != len(fragment) || err != nil {
			t.Fatalf("Write(%+q) = %d, %v", fragment, n, err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
