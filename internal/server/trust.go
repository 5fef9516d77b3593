package server

import (
	"context"
	"time"

	"podd/internal/guard/trust"
	"podd/pkg/pod"
	poddv1 "podd/proto/podd/v1"
)

// TrustDir returns the files of a workspace that podd uses once they are trusted, and
// trusts those that were returned before.
func (s *admin) TrustDir(ctx context.Context, r *poddv1.TrustDirRequest) (*poddv1.TrustDirResponse, error) {
	look, err := s.trusting(ctx, r)
	if err != nil {
		return nil, err
	}
	answer := &poddv1.TrustDirResponse{Digest: look.Digest, Dir: look.Dir, State: string(look.State)}
	_, answer.Refused = look.Follows()
	for _, f := range look.Files {
		answer.Files = append(answer.Files, &poddv1.ProjectFile{Path: f.Path, Content: f.Content})
	}
	return answer, nil
}

func (s *admin) trusting(ctx context.Context, r *poddv1.TrustDirRequest) (trust.Look, error) {
	look, err := pod.Visit(ctx, s.host, r.GetDir(), func() (trust.Look, error) {
		look, err := s.trust.Look(r.GetDir())
		if r.GetRemove() {
			err = nil // Only the name counts.
		}
		return look, err
	})
	switch {
	case err != nil:
		return look, err
	case r.GetRemove():
		return s.trust.Remove(r.GetDir())
	case r.GetDigest() != "":
		return s.trust.Trust(r.GetDir(), r.GetDigest(), time.Now())
	}
	return look, nil
}
