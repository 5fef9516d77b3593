package client

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"podd/pkg/paths"
	poddv1 "podd/proto/podd/v1"
)

// needToken are the calls that need the client token. It is sent with no others.
var needToken = map[string]bool{
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
	poddv1.ApprovalService_RemoveRule_FullMethodName:      true,
	poddv1.ApprovalService_ResolveApproval_FullMethodName: true,
	poddv1.AdminService_Check_FullMethodName:              true,
	poddv1.AdminService_Backup_FullMethodName:             true,
	poddv1.AdminService_CompactStore_FullMethodName:       true,
	poddv1.AdminService_RefreshCatalog_FullMethodName:     true,
	poddv1.AdminService_Reload_FullMethodName:             true,
	poddv1.AdminService_TrustDir_FullMethodName:           true,
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
}

// token adds the client token to the calls that need it. It is read for each of them, so
// that a client survives a new token and other calls work without one.
type token struct {
	read func(ctx context.Context) (string, error)
}

// tokenIn reads the token in a state directory; without a directory the token is empty.
func tokenIn(dir string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		if dir == "" {
			return "", nil
		}
		return paths.ReadToken(dir)
	}
}

func (t token) unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	with, missing := t.add(ctx, method)
	err := next(with, method, req, reply, conn, opts...)
	if missing == nil || status.Code(err) != codes.Unauthenticated {
		return err
	}
	// A podd that was starting has created the token by now. Without podd the file does not
	// exist either, so only this answer says that it is missing.
	if with, missing = t.add(ctx, method); missing != nil {
		return missing
	}
	return next(with, method, req, reply, conn, opts...)
}

func (t token) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, next grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	ctx, err := t.add(ctx, method)
	if err != nil {
		return nil, err
	}
	return next(ctx, desc, conn, method, opts...)
}

func (t token) add(ctx context.Context, method string) (context.Context, error) {
	if !needToken[method] {
		return ctx, nil
	}
	text, err := t.read(ctx)
	if err != nil || text == "" {
		return ctx, err
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+text), nil
}
