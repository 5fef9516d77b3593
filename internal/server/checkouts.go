package server

import (
	"context"

	"podd/pkg/pod"
	poddv1 "podd/proto/podd/v1"
)

// checkouts serves CheckoutService.
type checkouts struct {
	poddv1.UnimplementedCheckoutServiceServer
	host *pod.Host
}

// ApplyCheckout changes the person's files to what a pod did.
func (s *checkouts) ApplyCheckout(ctx context.Context, r *poddv1.ApplyCheckoutRequest) (*poddv1.ApplyCheckoutResponse, error) {
	out, err := s.host.Worktrees.Apply(ctx, r.GetPod(), r.GetSkip(), r.GetDryRun())
	if err != nil {
		return nil, err
	}
	resp := &poddv1.ApplyCheckoutResponse{Dir: validPath(out.Dir), Paths: valid(out.Paths)}
	for _, k := range out.Kept {
		resp.Kept = append(resp.Kept, &poddv1.KeptFile{Path: validPath(k.Path), Why: k.Why})
	}
	return resp, nil
}

// RunCheck runs a command in a pod's checkout.
func (s *checkouts) RunCheck(ctx context.Context, r *poddv1.RunCheckRequest) (*poddv1.RunCheckResponse, error) {
	out, err := s.host.Worktrees.Check(ctx, r.GetPod(), r.GetCommand(), int(r.GetTimeoutSeconds()))
	if err != nil {
		return nil, err
	}
	return &poddv1.RunCheckResponse{Passed: out.Passed, Summary: validPath(out.Summary), Output: validPath(out.Output), Seq: int64(out.Seq)}, nil
}

// LandCheckout moves a branch of the person's to what a pod did.
func (s *checkouts) LandCheckout(ctx context.Context, r *poddv1.LandCheckoutRequest) (*poddv1.LandCheckoutResponse, error) {
	out, err := s.host.Worktrees.Land(ctx, r.GetPod(), r.GetInto(), r.GetMessage())
	if err != nil {
		return nil, err
	}
	return &poddv1.LandCheckoutResponse{
		Branch: validPath(out.Branch), Old: out.Old, New: out.New, Dir: validPath(out.Dir), Committed: out.Committed, Merged: out.Merged,
		Commits: int64(out.Commits), Subject: validPath(out.Subject),
	}, nil
}
