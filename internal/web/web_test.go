package web_test

import (
	"net/http"
	"strings"
	"testing"

	"podd/internal/web"
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
	document := s.Document()
	if document.Status != http.StatusOK || !strings.Contains(string(document.Body), "<!doctype html>") || document.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("the document is %d %v", document.Status, document.Header)
	}
	b := s.pair(control)
	bearer := b.Login()
	if a := s.Call("/podd.v1.PodService/GetPod", bearer, `{"pod":"p"}`); a.Status != http.StatusOK || !strings.Contains(string(a.Body), `"name":`) {
		t.Errorf("GetPod: %d %s", a.Status, a.Body)
	}
	if a := s.Call("/podd.v1.PodService/GetPod", bearer, `{"pod":"none"}`); a.Status != http.StatusNotFound || a.Reason() != "POD_NOT_FOUND" {
		t.Errorf("GetPod of none: %d %s", a.Status, a.Body)
	}
	watch := s.Stream("/podd.v1.FleetService/Watch", bearer, `{"pod":"p","deltas":true,"beats":true}`)
	if a := s.Call("/podd.v1.PodService/Submit", bearer, `{"pod":"p","segments":[{"text":{"text":"hi"}}]}`); a.Status != http.StatusOK {
		t.Errorf("Submit: %d %s", a.Status, a.Body)
	}
	for {
		m, last := watch.Next()
		if last {
			t.Fatalf("the stream ended: %s %v", m.Body, m.Err)
		}
		if strings.Contains(string(m.Body), `"turnEnded"`) {
			break
		}
	}
	if _, err := poddv1.NewWebServiceClient(s.podd).RevokeDevice(withToken(t.Context()), &poddv1.RevokeDeviceRequest{Device: "test"}); err != nil {
		t.Fatal(err)
	}
	for {
		if m, last := watch.Next(); last {
			if m.Reason() != "DEVICE_REVOKED" {
				t.Errorf("the stream of a revoked browser ended with %s %v", m.Body, m.Err)
			}
			break
		}
	}
	if a := s.Call("/podd.v1.PodService/GetPod", bearer, `{"pod":"p"}`); a.Status != http.StatusUnauthorized {
		t.Errorf("a revoked browser reads: %d %s", a.Status, a.Body)
	}
	if a := s.Call("/podd.v1.DeviceService/GetChallenge", "", s.Encode(map[string]any{"device": b.Device})); a.Reason() != "DEVICE_UNKNOWN" {
		t.Errorf("a revoked browser logs in: %d %s", a.Status, a.Body)
	}
}

// What does not confine a child is said.
func TestConfinementIsSaid(t *testing.T) {
	for _, test := range []struct {
		landlock   bool
		unfiltered string
		says       string
	}{
		{true, "", "by Landlock and a filter of system calls"},
		{true, "seccomp: invalid argument", "by Landlock alone: seccomp: invalid argument"},
		{false, "", "by a filter of system calls alone: this kernel has no Landlock, which Linux 6.2 has"},
		{false, "this system has neither Landlock nor a filter of system calls", "no: this system has neither Landlock nor a filter of system calls"},
	} {
		if got := web.Confinement(test.landlock, test.unfiltered); got != test.says {
			t.Errorf("%v %q: %q", test.landlock, test.unfiltered, got)
		}
	}
}
