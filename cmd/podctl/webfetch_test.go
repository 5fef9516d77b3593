package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptPages serves a directory over HTTP and replaces $PAGES in files by its URL.
func scriptPages(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: pages DIR [FILE...]")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	ts.Defer(server.Close)
	for _, file := range args[1:] {
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(strings.ReplaceAll(ts.ReadFile(file), "$PAGES", server.URL)), 0o600))
	}
}
