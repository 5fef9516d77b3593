package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"podd/internal/testing/bench/model"
)

// What the bench asks the model endpoint adds no connection to those that it counts, also after a
// first request that is too long for one piece of the answer.
func TestStatsUseOneConnection(t *testing.T) {
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(model.Stats{First: make([]byte, 10_000)})
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	r := &rig{baseURL: server.URL + "/v1"}
	for range 3 {
		if _, err := r.modelStats(); err != nil {
			t.Fatal(err)
		}
	}
	if got := connections.Load(); got != 1 {
		t.Errorf("three calls opened %d connections", got)
	}
}
