package server_test

import (
	"testing"

	"podd/internal/config"
	"podd/internal/guard/trust"
)

// book is an empty record of trust.
func book(t testing.TB) *trust.Book {
	t.Helper()
	b, err := trust.Open(t.TempDir(), nil, config.ParseProject)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
