package server

import (
	"context"

	poddv1 "podd/proto/podd/v1"
)

// The calls below are part of the API and not served by this version. They say so.

// TrustDir is not served yet.
func (*admin) TrustDir(context.Context, *poddv1.TrustDirRequest) (*poddv1.TrustDirResponse, error) {
	return nil, notYet("trusting a directory")
}
