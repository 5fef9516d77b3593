package server

import (
	"context"

	poddv1 "podd/proto/podd/v1"
)

// The calls below are part of the API and not served by this version. They say so.

// Reload is not served yet.
func (*admin) Reload(context.Context, *poddv1.ReloadRequest) (*poddv1.ReloadResponse, error) {
	return nil, notYet("reloading the configuration")
}

// TrustDir is not served yet.
func (*admin) TrustDir(context.Context, *poddv1.TrustDirRequest) (*poddv1.TrustDirResponse, error) {
	return nil, notYet("trusting a directory")
}
