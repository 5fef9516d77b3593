package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
)

// Serve serves on a free port of loopback for ever, after it has written the base URL to
// out. GET /stats returns the Stats and resets them.
func Serve(out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "http://%s/v1\n", l.Addr()); err != nil {
		return err
	}
	s := &Server{}
	server := s.New()
	mux := http.NewServeMux()
	mux.Handle("/v1/", server.Handler)
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(s.Stats())
		s.Reset()
	})
	server.Handler = mux
	return server.Serve(l)
}
