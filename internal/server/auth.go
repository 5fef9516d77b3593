package server

import (
	"context"
	"crypto/subtle"
	"strings"

	"google.golang.org/grpc/metadata"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// openCalls are the calls that need no client token: they read, or do what the
// pod's user does all day. Every other one, a new one too, needs it.
var openCalls = map[string]bool{
	poddv1.AdminService_GetStatus_FullMethodName:                     true,
	poddv1.AlertService_AckAlerts_FullMethodName:                     true,
	poddv1.AlertService_ListAlerts_FullMethodName:                    true,
	poddv1.AlertService_StreamAlerts_FullMethodName:                  true,
	poddv1.ApprovalService_ListApprovals_FullMethodName:              true,
	poddv1.PodService_CancelInboxItem_FullMethodName:                 true,
	poddv1.PodService_Cancel_FullMethodName:                          true,
	poddv1.PodService_Compact_FullMethodName:                         true,
	poddv1.PodService_CompletePath_FullMethodName:                    true,
	poddv1.PodService_DeletePod_FullMethodName:                       true,
	poddv1.PodService_ForkPod_FullMethodName:                         true,
	poddv1.PodService_GetContext_FullMethodName:                      true,
	poddv1.PodService_GetPod_FullMethodName:                          true,
	poddv1.PodService_GetStats_FullMethodName:                        true,
	poddv1.PodService_ListInbox_FullMethodName:                       true,
	poddv1.PodService_ListPods_FullMethodName:                        true,
	poddv1.PodService_Notify_FullMethodName:                          true,
	poddv1.PodService_Pause_FullMethodName:                           true,
	poddv1.PodService_Resume_FullMethodName:                          true,
	poddv1.PodService_RewindPod_FullMethodName:                       true,
	poddv1.PodService_Stream_FullMethodName:                          true,
	poddv1.PodService_Submit_FullMethodName:                          true,
	"/grpc.health.v1.Health/Check":                                   true,
	"/grpc.health.v1.Health/List":                                    true,
	"/grpc.health.v1.Health/Watch":                                   true,
	"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":      true,
	"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": true,
}

// authorize refuses a call that needs the client token and does not show it. Being
// the same user is not enough: what a pod's tools run is the same user too.
func authorize(ctx context.Context, method, token string) error {
	if openCalls[method] {
		return nil
	}
	md, _ := metadata.FromIncomingContext(ctx)
	for _, value := range md.Get("authorization") {
		shown, ok := strings.CutPrefix(value, "Bearer ")
		if ok && subtle.ConstantTimeCompare([]byte(shown), []byte(token)) == 1 {
			return nil
		}
	}
	return item.Errorf(item.KindUnauthenticated, "CLIENT_TOKEN",
		"this call needs the client token: send metadata \"authorization: Bearer TOKEN\" with the content of client.token in podd's state directory")
}
