package server_test

import (
	"testing"

	"podd/internal/config"
	"podd/internal/guard/trust"
)

// book is a record of trust with nothing in it.
func book(t testing.TB) *trust.Book {
	t.Helper()
	b, err := trust.Open(t.TempDir(), nil, config.ParseProject)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
