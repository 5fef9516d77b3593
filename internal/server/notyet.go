package server

import (
	"context"

	poddv1 "podd/proto/podd/v1"
)

// The calls below are part of the API and not served by this version. They say so.

// UpdatePod is not served yet.
func (*pods) UpdatePod(context.Context, *poddv1.UpdatePodRequest) (*poddv1.UpdatePodResponse, error) {
	return nil, notYet("changing a pod")
}

// ListInbox is not served yet.
func (*pods) ListInbox(context.Context, *poddv1.ListInboxRequest) (*poddv1.ListInboxResponse, error) {
	return nil, notYet("listing the inbox")
}

// CancelInboxItem is not served yet.
func (*pods) CancelInboxItem(context.Context, *poddv1.CancelInboxItemRequest) (*poddv1.CancelInboxItemResponse, error) {
	return nil, notYet("removing a waiting submit")
}

// Pause is not served yet.
func (*pods) Pause(context.Context, *poddv1.PauseRequest) (*poddv1.PauseResponse, error) {
	return nil, notYet("pausing a pod")
}

// Resume is not served yet.
func (*pods) Resume(context.Context, *poddv1.ResumeRequest) (*poddv1.ResumeResponse, error) {
	return nil, notYet("resuming a pod")
}

// Notify is not served yet.
func (*pods) Notify(context.Context, *poddv1.NotifyRequest) (*poddv1.NotifyResponse, error) {
	return nil, notYet("leaving a note")
}

// approvals serves ApprovalService.
type approvals struct {
	poddv1.UnimplementedApprovalServiceServer
}

// ListApprovals is not served yet.
func (approvals) ListApprovals(context.Context, *poddv1.ListApprovalsRequest) (*poddv1.ListApprovalsResponse, error) {
	return nil, notYet("listing approvals")
}

// ResolveApproval is not served yet.
func (approvals) ResolveApproval(context.Context, *poddv1.ResolveApprovalRequest) (*poddv1.ResolveApprovalResponse, error) {
	return nil, notYet("answering an approval")
}

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
