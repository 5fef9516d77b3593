package server

import (
	"context"
	"crypto/subtle"
	"strings"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/tap"

	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// tokenCalls are the calls that need the client token: they create pods, change what pods
// may do, answer approvals, or work on the whole store.
var tokenCalls = map[string]bool{
	poddv1.AdminService_Backup_FullMethodName:             true,
	poddv1.AdminService_Check_FullMethodName:              true,
	poddv1.AdminService_CompactStore_FullMethodName:       true,
	poddv1.AdminService_RefreshCatalog_FullMethodName:     true,
	poddv1.AdminService_Reload_FullMethodName:             true,
	poddv1.AdminService_TrustDir_FullMethodName:           true,
	poddv1.ApprovalService_RemoveRule_FullMethodName:      true,
	poddv1.ApprovalService_ResolveApproval_FullMethodName: true,
	poddv1.CheckoutService_ApplyCheckout_FullMethodName:   true,
	poddv1.CheckoutService_LandCheckout_FullMethodName:    true,
	poddv1.CheckoutService_RunCheck_FullMethodName:        true,
	poddv1.FleetService_MovePod_FullMethodName:            true,
	poddv1.FleetService_RemoveNode_FullMethodName:         true,
	poddv1.ImportService_ImportSession_FullMethodName:     true,
	poddv1.McpService_AcceptMcpTools_FullMethodName:       true,
	poddv1.McpService_AnswerMcpLogin_FullMethodName:       true,
	poddv1.McpService_LoginMcpServer_FullMethodName:       true,
	poddv1.McpService_LogoutMcpServer_FullMethodName:      true,
	poddv1.McpService_TestMcpServer_FullMethodName:        true,
	poddv1.PluginService_AddPlugin_FullMethodName:         true,
	poddv1.PluginService_RemovePlugin_FullMethodName:      true,
	poddv1.PodService_CreatePod_FullMethodName:            true,
	poddv1.PodService_UpdatePod_FullMethodName:            true,
	poddv1.TriggerService_GetTriggerSecret_FullMethodName: true,
	poddv1.TriggerService_PauseTrigger_FullMethodName:     true,
	poddv1.TriggerService_RemoveTrigger_FullMethodName:    true,
	poddv1.TriggerService_SetTrigger_FullMethodName:       true,
	poddv1.WebService_AnswerPairing_FullMethodName:        true,
	poddv1.WebService_ListDevices_FullMethodName:          true,
	poddv1.WebService_RevokeDevice_FullMethodName:         true,
	poddv1.WebService_StartPairing_FullMethodName:         true,
}

// openCalls are the calls that need no client token: they read, or are part of everyday
// work with a pod.
var openCalls = map[string]bool{
	poddv1.AdminService_GetStatus_FullMethodName:                     true,
	poddv1.AdminService_ListModels_FullMethodName:                    true,
	poddv1.AlertService_AckAlerts_FullMethodName:                     true,
	poddv1.AlertService_ListAlerts_FullMethodName:                    true,
	poddv1.AlertService_StreamAlerts_FullMethodName:                  true,
	poddv1.ApprovalService_ListApprovals_FullMethodName:              true,
	poddv1.ApprovalService_ListRules_FullMethodName:                  true,
	poddv1.ApprovalService_GetApprovalRule_FullMethodName:            true,
	poddv1.FleetService_GetUsageSeries_FullMethodName:                true,
	poddv1.FleetService_ListNodes_FullMethodName:                     true,
	poddv1.FleetService_Search_FullMethodName:                        true,
	poddv1.FleetService_Watch_FullMethodName:                         true,
	poddv1.JobService_ListJobs_FullMethodName:                        true,
	poddv1.JobService_ReadJob_FullMethodName:                         true,
	poddv1.JobService_StopJobs_FullMethodName:                        true,
	poddv1.LetterService_ListLetters_FullMethodName:                  true,
	poddv1.McpService_ListMcpServers_FullMethodName:                  true,
	poddv1.PluginService_ListPlugins_FullMethodName:                  true,
	poddv1.FileService_DiffFiles_FullMethodName:                      true,
	poddv1.FileService_RestoreFiles_FullMethodName:                   true,
	poddv1.PodService_CancelInboxItem_FullMethodName:                 true,
	poddv1.PodService_Cancel_FullMethodName:                          true,
	poddv1.PodService_Compact_FullMethodName:                         true,
	poddv1.PodService_CompletePath_FullMethodName:                    true,
	poddv1.PodService_DeletePod_FullMethodName:                       true,
	poddv1.PodService_ForkPod_FullMethodName:                         true,
	poddv1.PodService_GetContext_FullMethodName:                      true,
	poddv1.PodService_GetImage_FullMethodName:                        true,
	poddv1.PodService_GetPod_FullMethodName:                          true,
	poddv1.PodService_GetStats_FullMethodName:                        true,
	poddv1.PodService_ListInbox_FullMethodName:                       true,
	poddv1.PodService_ListPods_FullMethodName:                        true,
	poddv1.PodService_ListPrompts_FullMethodName:                     true,
	poddv1.PodService_ListTrash_FullMethodName:                       true,
	poddv1.PodService_Notify_FullMethodName:                          true,
	poddv1.PodService_Pause_FullMethodName:                           true,
	poddv1.PodService_RenamePod_FullMethodName:                       true,
	poddv1.PodService_Resume_FullMethodName:                          true,
	poddv1.PodService_RestorePod_FullMethodName:                      true,
	poddv1.PodService_RewindPod_FullMethodName:                       true,
	poddv1.PodService_Stream_FullMethodName:                          true,
	poddv1.PodService_Submit_FullMethodName:                          true,
	poddv1.TriggerService_FireTrigger_FullMethodName:                 true,
	poddv1.TriggerService_ListReceipts_FullMethodName:                true,
	poddv1.TriggerService_ListTriggers_FullMethodName:                true,
	"/grpc.health.v1.Health/Check":                                   true,
	"/grpc.health.v1.Health/List":                                    true,
	"/grpc.health.v1.Health/Watch":                                   true,
	"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":      true,
	"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": true,
}

// admission decides which calls are admitted.
type admission struct {
	// owner is the id of the one user who is served.
	owner int
	token string
}

// tap checks each call before any of its messages is read.
func (a admission) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	return ctx, wire.ToStatus(a.admit(ctx, info.FullMethodName, info.Header))
}

// admit refuses another user's call, and a call that is in neither list.
func (a admission) admit(ctx context.Context, method string, md metadata.MD) error {
	if err := checkPeer(ctx, a.owner); err != nil {
		return err
	}
	switch {
	case openCalls[method]:
		return nil
	case tokenCalls[method]:
		return a.checkToken(md)
	}
	return item.Errorf(item.KindUnimplemented, "UNLISTED_CALL",
		"the running podd does not know the call %q: if it is older than this client, install the newer podd, then run podd service restart", method)
}

// checkToken refuses a call without the client token. Being the same user is not enough:
// the commands that a pod's tools run have the same user.
func (a admission) checkToken(md metadata.MD) error {
	for _, value := range md.Get("authorization") {
		shown, ok := strings.CutPrefix(value, "Bearer ")
		if ok && a.token != "" && subtle.ConstantTimeCompare([]byte(shown), []byte(a.token)) == 1 {
			return nil
		}
	}
	return item.Errorf(item.KindUnauthenticated, "CLIENT_TOKEN",
		"this call needs the client token: send metadata \"authorization: Bearer TOKEN\" with the content of client.token in podd's state directory")
}
