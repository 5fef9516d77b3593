package client_test

import (
	"context"
	"testing"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func TestNewRequestID(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		id := client.NewRequestID()
		if len(id) != 32 || seen[id] {
			t.Fatalf("%q is short or came before", id)
		}
		seen[id] = true
	}
}

func TestSubmitMakesARequestID(t *testing.T) {
	p := newPeer(t)
	p.submit = func(_ context.Context, r *poddv1.SubmitRequest) (*poddv1.SubmitResponse, error) {
		return &poddv1.SubmitResponse{RequestId: r.GetRequestId()}, nil
	}
	p.start()
	req := &poddv1.SubmitRequest{Pod: "p"}
	resp, err := p.client().Submit(t.Context(), req)
	if err != nil || len(resp.GetRequestId()) != 32 {
		t.Fatalf("got %v, %v", resp, err)
	}
	if req.GetRequestId() != "" {
		t.Error("the caller's request was changed")
	}
}

// podd stops during a submit, is gone for a moment, and comes back: the submit succeeds
// with one request id.
func TestSubmitOutlivesARestart(t *testing.T) {
	p := newPeer(t)
	var ids []string
	p.submit = func(ctx context.Context, r *poddv1.SubmitRequest) (*poddv1.SubmitResponse, error) {
		ids = append(ids, r.GetRequestId())
		if len(ids) == 1 {
			return nil, errDraining
		}
		if len(ids) == 2 {
			return nil, p.restart(ctx)
		}
		return &poddv1.SubmitResponse{Seq: 9, Duplicate: true}, nil
	}
	p.start()
	var told []error
	c := p.client(func(cfg *client.Config) { cfg.Waiting = func(err error) { told = append(told, err) } })
	resp, err := c.Submit(t.Context(), &poddv1.SubmitRequest{Pod: "p"})
	if err != nil || resp.GetSeq() != 9 {
		t.Fatalf("got %v, %v", resp, err)
	}
	if len(told) != 1 || item.KindOf(told[0]) != item.KindUnavailable {
		t.Errorf("told of %v, want the first error alone", told)
	}
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("the request ids differ: %q", ids)
		}
	}
}

// The next podd answers a call made while podd restarts.
func TestPodOutlivesARestart(t *testing.T) {
	p := newPeer(t)
	asked := 0
	p.pod = func(ctx context.Context) (*poddv1.GetPodResponse, error) {
		if asked++; asked == 1 {
			return nil, p.restart(ctx)
		}
		return &poddv1.GetPodResponse{Pod: &poddv1.Pod{Name: "p"}}, nil
	}
	p.start()
	if pod, err := p.client().Pod(t.Context(), "p"); err != nil || pod.GetName() != "p" {
		t.Errorf("got %v, %v", pod, err)
	}
}

func TestSubmitGivesUp(t *testing.T) {
	tests := map[string]struct {
		retryFor time.Duration
		answer   *item.Error
	}{
		"when podd stays away":   {50 * time.Millisecond, errDraining},
		"at once when told so":   {-1, errDraining},
		"at podd's refusal":      {time.Hour, item.Errorf(item.KindExhausted, "INBOX_FULL", "full")},
		"at a request id reused": {time.Hour, item.Errorf(item.KindExists, "REQUEST_ID_TAKEN", "taken")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t)
			calls := 0
			p.submit = func(context.Context, *poddv1.SubmitRequest) (*poddv1.SubmitResponse, error) {
				calls++
				return nil, tt.answer
			}
			p.start()
			c := p.client(func(cfg *client.Config) { cfg.RetryFor = tt.retryFor })
			_, err := c.Submit(t.Context(), &poddv1.SubmitRequest{Pod: "p"})
			wantError(t, err, tt.answer.Kind, tt.answer.Reason)
			if again := calls > 1; again != (tt.retryFor == 50*time.Millisecond) {
				t.Errorf("podd was asked %d times", calls)
			}
		})
	}
}

func TestSubmitEndsWithItsContext(t *testing.T) {
	p := newPeer(t)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	p.submit = func(context.Context, *poddv1.SubmitRequest) (*poddv1.SubmitResponse, error) {
		if calls++; calls == 3 {
			cancel()
		}
		return nil, errDraining
	}
	p.start()
	c := p.client(func(cfg *client.Config) { cfg.RetryFor = time.Hour })
	if _, err := c.Submit(ctx, &poddv1.SubmitRequest{Pod: "p"}); err == nil || calls != 3 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}
