package server

import (
	"context"

	poddv1 "podd/proto/podd/v1"
)

// The calls below are part of the API and not served by this version. They say so.

// Check is not served yet.
func (*admin) Check(context.Context, *poddv1.CheckRequest) (*poddv1.CheckResponse, error) {
	return nil, notYet("checking the store")
}

// Backup is not served yet.
func (*admin) Backup(*poddv1.BackupRequest, poddv1.AdminService_BackupServer) error {
	return notYet("a backup")
}

// CompactStore is not served yet.
func (*admin) CompactStore(context.Context, *poddv1.CompactStoreRequest) (*poddv1.CompactStoreResponse, error) {
	return nil, notYet("compacting the store")
}

// Reload is not served yet.
func (*admin) Reload(context.Context, *poddv1.ReloadRequest) (*poddv1.ReloadResponse, error) {
	return nil, notYet("reloading the configuration")
}

// TrustDir is not served yet.
func (*admin) TrustDir(context.Context, *poddv1.TrustDirRequest) (*poddv1.TrustDirResponse, error) {
	return nil, notYet("trusting a directory")
}
