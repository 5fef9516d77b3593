package secrets_test

import (
	"strings"
	"testing"

	"podd/internal/guard/secrets"
)

func BenchmarkRedact(b *testing.B) {
	s := secrets.New(known, strings.Repeat("ab", 32))
	text := strings.Repeat("	if err := f.open(path); err != nil { return fmt.Errorf(\"open %s: %w\", path, err) } // see https://example.com/x\n", 600)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s.Redact(text)
	}
}

func BenchmarkStream(b *testing.B) {
	s := secrets.New(known)
	fragment := strings.Repeat("ok  podd/pkg/store 0.1s\n", 40)
	b.SetBytes(int64(len(fragment)))
	stream := s.Stream()
	for b.Loop() {
		stream.Write(fragment)
	}
}
