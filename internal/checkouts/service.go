package checkouts

import (
	"context"

	"google.golang.org/grpc"

	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// Register serves CheckoutService.
func (w *Checkouts) Register(g grpc.ServiceRegistrar) {
	poddv1.RegisterCheckoutServiceServer(g, &service{checkouts: w})
}

type service struct {
	poddv1.UnimplementedCheckoutServiceServer
	checkouts *Checkouts
}

// ApplyCheckout changes the person's files to what a pod did.
func (s *service) ApplyCheckout(ctx context.Context, r *poddv1.ApplyCheckoutRequest) (*poddv1.ApplyCheckoutResponse, error) {
	out, err := s.checkouts.Apply(ctx, r.GetPod(), r.GetSkip(), r.GetDryRun())
	if err != nil {
		return nil, err
	}
	resp := &poddv1.ApplyCheckoutResponse{Dir: wire.Valid(out.Dir), Paths: wire.ValidAll(out.Paths)}
	for _, k := range out.Kept {
		resp.Kept = append(resp.Kept, &poddv1.KeptFile{Path: wire.Valid(k.Path), Why: k.Why})
	}
	return resp, nil
}

// RunCheck runs a command in a pod's checkout.
func (s *service) RunCheck(ctx context.Context, r *poddv1.RunCheckRequest) (*poddv1.RunCheckResponse, error) {
	out, err := s.checkouts.Check(ctx, r.GetPod(), r.GetCommand(), int(r.GetTimeoutSeconds()))
	if err != nil {
		return nil, err
	}
	return &poddv1.RunCheckResponse{Passed: out.Passed, Summary: wire.Valid(out.Summary), Output: wire.Valid(out.Output), Seq: int64(out.Seq)}, nil
}

// LandCheckout moves a branch of the person's to what a pod did.
func (s *service) LandCheckout(ctx context.Context, r *poddv1.LandCheckoutRequest) (*poddv1.LandCheckoutResponse, error) {
	out, err := s.checkouts.Land(ctx, r.GetPod(), r.GetInto(), r.GetMessage())
	if err != nil {
		return nil, err
	}
	return &poddv1.LandCheckoutResponse{
		Branch: wire.Valid(out.Branch), Old: out.Old, New: out.New, Dir: wire.Valid(out.Tree), Committed: out.Committed, Merged: out.Merged,
		Commits: int64(out.Commits), Subject: wire.Valid(out.Subject),
	}, nil
}
