package client_test

import (
	"slices"
	"testing"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// A patient client waits for a podd that never answered, notices when it drains and when
// it is gone, and waits for its return without a limit.
func TestServing(t *testing.T) {
	p := newPeer(t)
	c := p.client(func(cfg *client.Config) { cfg.Patient, cfg.RetryFor = true, time.Nanosecond })
	lost := 0
	var seen []bool
	step := 0
	for serving, err := range c.Serving(t.Context(), func(error) {
		if lost++; lost == 1 {
			p.start()
		}
	}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, serving)
		switch step++; step {
		case 1:
			p.health.Shutdown()
		case 2:
			p.stop()
			p.start()
		}
		if step == 3 {
			break
		}
	}
	// With no time for retries, an attempt that comes too early is a separate loss.
	if want := []bool{true, false, true}; !slices.Equal(seen, want) || lost < 2 {
		t.Errorf("heard %v and %d losses, want %v and at least 2", seen, lost, want)
	}
}

// A patient client's calls still fail at once.
func TestPatientCallsDoNotWait(t *testing.T) {
	p := newPeer(t)
	c := p.client(func(cfg *client.Config) { cfg.Patient = true })
	_, err := c.Submit(t.Context(), &poddv1.SubmitRequest{Pod: "p"})
	wantError(t, err, item.KindUnavailable, "UNREACHABLE")
}
