package secrets_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"podd/internal/guard/secrets"
)

// pieces are the building blocks of test streams.
func pieces() []string {
	return []string{
		known, openai, github, aws, slack, jwt, private, "Authorization: Bearer abcdef123", "https://user:hunter2@host/", "X-Api-Key: 0123456789abcdef0",
		" ", "\n", "plain words ", "sk-", "ghp_", "AKIA", "Authorization", "://", "-----BEGIN ", "correct horse", "größe", "a", "/", "@", "xox",
	}
}

// A text in fragments shows no secret, wherever it is cut, and shows what Redact makes of
// the whole.
func TestStreamCutAnywhere(t *testing.T) {
	s := secrets.New(known)
	for _, piece := range pieces() {
		text := "before " + piece + " after"
		want := s.Redact(text)
		for cut := range len(text) + 1 {
			stream := s.Stream()
			got := stream.Write(text[:cut]) + stream.Write(text[cut:]) + stream.Flush()
			if got != want {
				t.Errorf("cut at %d: %q, want %q", cut, got, want)
			}
		}
		stream, got := s.Stream(), ""
		for i := range len(text) {
			got += stream.Write(text[i : i+1])
		}
		if got += stream.Flush(); got != want {
			t.Errorf("byte by byte: %q, want %q", got, want)
		}
	}
}

// The same for any texts and fragments.
func TestStreamProperty(t *testing.T) {
	s := secrets.New(known)
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces()), 0, 12).Draw(rt, "pieces"), ",")
		want := s.Redact(text)
		stream, got := s.Stream(), ""
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "fragment")
			got += stream.Write(rest[:n])
			rest = rest[n:]
		}
		if got += stream.Flush(); got != want {
			rt.Fatalf("%q in fragments is %q, want %q", text, got, want)
		}
	})
}

// Plain text is not held back, so that followers see it.
func TestStreamIsPrompt(t *testing.T) {
	stream := secrets.New(known).Stream()
	for _, text := range []string{"compiling...", " 50%\r", "ok\n", "héllo"} {
		if got := stream.Write(text); got != text || !utf8.ValidString(got) {
			t.Errorf("of %q comes %q", text, got)
		}
	}
}

// A secret without end is neither held back for ever nor shown.
func TestStreamIsBounded(t *testing.T) {
	stream := secrets.New().Stream()
	got := stream.Write("x -----BEGIN PRIVATE KEY-----\n")
	for range 200 {
		got += stream.Write(strings.Repeat("QUJD", 250) + "\n")
	}
	got += stream.Write("-----. The end.") + stream.Flush()
	if strings.Contains(got, "QUJD") || !strings.HasPrefix(got, "x [redacted]") || !strings.HasSuffix(got, "The end.") {
		t.Errorf("shown is %q", got)
	}
}
