package server

import (
	"context"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/internal/extend/mcp"
	"podd/internal/guard/trust"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	poddv1 "podd/proto/podd/v1"
)

// MCP manages the MCP servers of workspaces.
type MCP interface {
	// ListMCP lists the servers of a workspace without starting them.
	ListMCP(dir string) []mcp.Look
	// TestMCP starts a server and stops it again.
	TestMCP(ctx context.Context, name, dir string) (mcp.Look, time.Duration, error)
	// AcceptMCP accepts the current tools of a server, and counts those that had changed.
	AcceptMCP(name, dir string) (int, error)
	// LoginMCP signs in at a server; show gets the address for a browser.
	LoginMCP(ctx context.Context, name, dir string, port int, show func(address string) error) (mcp.Look, error)
	// AnswerMCP gives a login the address where the browser ended.
	AnswerMCP(address string) error
	// LogoutMCP forgets the tokens of a server, says whether there were any, and warns if they
	// still count at the server.
	LogoutMCP(ctx context.Context, name, dir string) (was bool, warning string, err error)
}

type mcpServers struct {
	poddv1.UnimplementedMcpServiceServer
	host  *pod.Host
	mcp   MCP
	trust *trust.Book
}

// ListMcpServers lists the MCP servers of a pod, or of a directory.
func (s *mcpServers) ListMcpServers(ctx context.Context, r *poddv1.ListMcpServersRequest) (*poddv1.ListMcpServersResponse, error) {
	dir := r.GetDir()
	var err error
	if r.GetPod() != "" {
		dir, err = s.host.Workspace(ctx, r.GetPod())
	} else {
		dir, err = workspaceDir(dir)
	}
	if err != nil {
		return nil, err
	}
	answer := &poddv1.ListMcpServersResponse{Dir: dir}
	_, answer.Note = s.trust.Follow(dir)
	for _, look := range s.mcp.ListMCP(dir) {
		answer.Servers = append(answer.Servers, mcpServer(look))
	}
	return answer, nil
}

// TestMcpServer starts an MCP server and stops it again.
func (s *mcpServers) TestMcpServer(ctx context.Context, r *poddv1.TestMcpServerRequest) (*poddv1.TestMcpServerResponse, error) {
	dir, err := workspaceDir(r.GetDir())
	if err != nil {
		return nil, err
	}
	look, took, err := s.mcp.TestMCP(ctx, r.GetName(), dir)
	if err != nil {
		return nil, err
	}
	return &poddv1.TestMcpServerResponse{Server: mcpServer(look), Took: durationpb.New(took)}, nil
}

// AcceptMcpTools accepts the current tools of an MCP server.
func (s *mcpServers) AcceptMcpTools(_ context.Context, r *poddv1.AcceptMcpToolsRequest) (*poddv1.AcceptMcpToolsResponse, error) {
	dir, err := workspaceDir(r.GetDir())
	if err != nil {
		return nil, err
	}
	n, err := s.mcp.AcceptMCP(r.GetName(), dir)
	if err != nil {
		return nil, err
	}
	return &poddv1.AcceptMcpToolsResponse{Accepted: int32(n)}, nil
}

// LoginMcpServer signs in at an MCP server.
func (s *mcpServers) LoginMcpServer(r *poddv1.LoginMcpServerRequest, stream poddv1.McpService_LoginMcpServerServer) error {
	dir, err := workspaceDir(r.GetDir())
	if err != nil {
		return err
	}
	if port := r.GetPort(); port < 0 || port > 65535 {
		return item.Errorf(item.KindInvalid, "BAD_PORT", "the port %d is not from 0 to 65535", port)
	}
	look, err := s.mcp.LoginMCP(stream.Context(), r.GetName(), dir, int(r.GetPort()), func(address string) error {
		return stream.Send(&poddv1.LoginMcpServerResponse{Kind: &poddv1.LoginMcpServerResponse_Url{Url: address}})
	})
	if err != nil {
		return err
	}
	return stream.Send(&poddv1.LoginMcpServerResponse{Kind: &poddv1.LoginMcpServerResponse_Server{Server: mcpServer(look)}})
}

// AnswerMcpLogin gives a login the address where the browser ended.
func (s *mcpServers) AnswerMcpLogin(_ context.Context, r *poddv1.AnswerMcpLoginRequest) (*poddv1.AnswerMcpLoginResponse, error) {
	return &poddv1.AnswerMcpLoginResponse{}, s.mcp.AnswerMCP(r.GetRedirectUrl())
}

// LogoutMcpServer forgets the tokens of an MCP server, and revokes them.
func (s *mcpServers) LogoutMcpServer(ctx context.Context, r *poddv1.LogoutMcpServerRequest) (*poddv1.LogoutMcpServerResponse, error) {
	dir, err := workspaceDir(r.GetDir())
	if err != nil {
		return nil, err
	}
	was, warning, err := s.mcp.LogoutMCP(ctx, r.GetName(), dir)
	if err != nil {
		return nil, err
	}
	return &poddv1.LogoutMcpServerResponse{SignedOut: was, Warning: warning}, nil
}

// workspaceDir is a directory's path as a pod's spec has it.
func workspaceDir(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", item.Errorf(item.KindInvalid, "BAD_DIR", "the path of the directory %q is not absolute", dir)
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", item.Errorf(item.KindInvalid, "BAD_DIR", "the directory %q does not exist", dir)
	}
	return resolved, nil
}

func mcpServer(look mcp.Look) *poddv1.McpServer {
	s := &poddv1.McpServer{
		Name: look.Server.Name, Origin: look.Server.Origin, Target: look.Server.Target(), State: string(look.State), Error: look.Error, SignIn: string(look.SignIn),
	}
	l := look.Listing
	if l == nil {
		return s
	}
	s.Listed, s.ListedAt = true, timestamppb.New(l.At)
	s.Title, s.Version, s.Protocol, s.LeftOut = l.Title, l.Version, l.Protocol, l.LeftOut
	for n, t := range l.Tools {
		s.Tools = append(s.Tools, &poddv1.McpTool{
			Name: t.Name, OfferedAs: look.Names[n], Description: t.Description, Schema: t.Schema, Hint: t.Hint, Changed: look.Changed[n],
			Tokens: int64(fold.Estimate(len(look.Names[n])+len(t.Description)+len(t.Schema), 0)),
		})
	}
	for _, r := range l.Resources {
		s.Resources = append(s.Resources, &poddv1.McpResource{Uri: r.URI, Name: r.Name, Description: r.Description, MimeType: r.MIMEType, Template: r.Template})
	}
	for _, p := range l.Prompts {
		s.Prompts = append(s.Prompts, &poddv1.McpPrompt{Name: p.Name, Description: p.Description, Arguments: p.Arguments})
	}
	return s
}
