package web_test

import (
	"net/http"
	"strings"
	"testing"

	poddv1 "podd/proto/podd/v1"
)

const (
	view    = poddv1.DeviceScope_DEVICE_SCOPE_VIEW
	answer  = poddv1.DeviceScope_DEVICE_SCOPE_ANSWER
	control = poddv1.DeviceScope_DEVICE_SCOPE_CONTROL
)

// A browser pairs, logs in, reads a pod, submits to it, and follows it.
func TestPage(t *testing.T) {
	s := newStage(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.origin+"/", nil)
	check(t, err)
	r.Header.Set("Sec-Fetch-Site", "none")
	document := s.do(r)
	if document.status != http.StatusOK || !strings.Contains(string(document.body), "<!doctype html>") || document.header.Get("Content-Security-Policy") == "" {
		t.Errorf("the document is %d %v", document.status, document.header)
	}
	b := s.pair(control)
	bearer := b.login()
	if a := s.call("/podd.v1.PodService/GetPod", bearer, `{"pod":"p"}`); a.status != http.StatusOK || !strings.Contains(string(a.body), `"name":`) {
		t.Errorf("GetPod: %d %s", a.status, a.body)
	}
	if a := s.call("/podd.v1.PodService/GetPod", bearer, `{"pod":"none"}`); a.status != http.StatusNotFound || a.reason() != "POD_NOT_FOUND" {
		t.Errorf("GetPod of none: %d %s", a.status, a.body)
	}
	watch := s.stream("/podd.v1.FleetService/Watch", bearer, `{"pod":"p","deltas":true,"beats":true}`)
	if a := s.call("/podd.v1.PodService/Submit", bearer, `{"pod":"p","segments":[{"text":{"text":"hi"}}]}`); a.status != http.StatusOK {
		t.Errorf("Submit: %d %s", a.status, a.body)
	}
	for {
		m, last := watch.next()
		if last {
			t.Fatalf("the stream ended: %s %v", m.body, m.err)
		}
		if strings.Contains(string(m.body), `"turnEnded"`) {
			break
		}
	}
	if _, err := poddv1.NewWebServiceClient(s.podd).RevokeDevice(withToken(t.Context()), &poddv1.RevokeDeviceRequest{Device: "test"}); err != nil {
		t.Fatal(err)
	}
	for {
		if m, last := watch.next(); last {
			if m.reason() != "DEVICE_REVOKED" {
				t.Errorf("the stream of a revoked browser ended with %s %v", m.body, m.err)
			}
			break
		}
	}
	if a := s.call("/podd.v1.PodService/GetPod", bearer, `{"pod":"p"}`); a.status != http.StatusUnauthorized {
		t.Errorf("a revoked browser reads: %d %s", a.status, a.body)
	}
	if a := s.call("/podd.v1.DeviceService/GetChallenge", "", encode(t, map[string]any{"device": b.device})); a.reason() != "DEVICE_UNKNOWN" {
		t.Errorf("a revoked browser logs in: %d %s", a.status, a.body)
	}
}
