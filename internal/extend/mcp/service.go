package mcp

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	poddv1 "podd/proto/podd/v1"
)

// Service is what McpService knows besides the servers.
type Service struct {
	// DirOf is the directory of a pod.
	DirOf func(ctx context.Context, pod string) (string, error)
	// Note says why the configuration of a directory is not followed; empty if it is.
	Note func(dir string) string
	// Visit runs a look into a directory, and gives up when that does not answer; then it has an error.
	Visit func(ctx context.Context, dir string, look func() (Place, error)) (Place, error)
}

// Place is a directory without links, its servers, and what Note says of it.
type Place struct {
	Dir     string
	Servers []Server
	Note    string
}

// place looks into a directory.
func (s *service) place(ctx context.Context, path string) (Place, error) {
	return s.Visit(ctx, path, func() (Place, error) {
		dir, err := scopefs.Directory(path, "directory")
		if err != nil {
			return Place{}, err
		}
		return s.in(dir), nil
	})
}

func (s *service) in(dir string) Place { return Place{dir, s.manager.Servers(dir), s.Note(dir)} }

// Register serves McpService.
func (m *Manager) Register(g grpc.ServiceRegistrar, s Service) {
	poddv1.RegisterMcpServiceServer(g, &service{Service: s, manager: m})
}

type service struct {
	poddv1.UnimplementedMcpServiceServer
	Service
	manager *Manager
}

// find is a server of a workspace, whose directory it resolves.
func (s *service) find(ctx context.Context, name, path string) (found Server, dir string, err error) {
	place, err := s.place(ctx, path)
	if err != nil {
		return found, "", err
	}
	var names []string
	for _, server := range place.Servers {
		if server.Name == name {
			return server, place.Dir, nil
		}
		names = append(names, server.Name)
	}
	if len(names) == 0 {
		return found, "", item.Errorf(item.KindNotFound, "NO_MCP_SERVER", "there is no MCP server %q: neither config.toml nor a trusted .mcp.json of this directory defines one", name)
	}
	return found, "", item.Errorf(item.KindNotFound, "NO_MCP_SERVER", "there is no MCP server %q here: the servers are %s", name, strings.Join(names, ", "))
}

// ListMcpServers lists the MCP servers of a pod, or of a directory.
func (s *service) ListMcpServers(ctx context.Context, r *poddv1.ListMcpServersRequest) (*poddv1.ListMcpServersResponse, error) {
	place, err := s.placeOf(ctx, r)
	if err != nil {
		return nil, err
	}
	answer := &poddv1.ListMcpServersResponse{Dir: place.Dir, Note: place.Note}
	for _, server := range place.Servers {
		answer.Servers = append(answer.Servers, s.manager.Look(server, place.Dir).toProto())
	}
	return answer, nil
}

// placeOf looks into the directory of a request. That of a pod need not exist any more.
func (s *service) placeOf(ctx context.Context, r *poddv1.ListMcpServersRequest) (Place, error) {
	if r.GetPod() == "" {
		return s.place(ctx, r.GetDir())
	}
	dir, err := s.DirOf(ctx, r.GetPod())
	if err != nil {
		return Place{}, err
	}
	return s.Visit(ctx, dir, func() (Place, error) { return s.in(dir), nil })
}

// TestMcpServer starts an MCP server and stops it again.
func (s *service) TestMcpServer(ctx context.Context, r *poddv1.TestMcpServerRequest) (*poddv1.TestMcpServerResponse, error) {
	server, dir, err := s.find(ctx, r.GetName(), r.GetDir())
	if err != nil {
		return nil, err
	}
	look, took, err := s.manager.Test(ctx, server, dir)
	if err != nil {
		return nil, err
	}
	return &poddv1.TestMcpServerResponse{Server: look.toProto(), Took: durationpb.New(took)}, nil
}

// AcceptMcpTools accepts the current tools of an MCP server.
func (s *service) AcceptMcpTools(ctx context.Context, r *poddv1.AcceptMcpToolsRequest) (*poddv1.AcceptMcpToolsResponse, error) {
	server, dir, err := s.find(ctx, r.GetName(), r.GetDir())
	if err != nil {
		return nil, err
	}
	n, err := s.manager.Accept(server, dir)
	if err != nil {
		return nil, err
	}
	return &poddv1.AcceptMcpToolsResponse{Accepted: int32(n)}, nil
}

// LoginMcpServer signs in at an MCP server.
func (s *service) LoginMcpServer(r *poddv1.LoginMcpServerRequest, stream poddv1.McpService_LoginMcpServerServer) error {
	if port := r.GetPort(); port < 0 || port > 65535 {
		return item.Errorf(item.KindInvalid, "BAD_PORT", "the port %d is not from 0 to 65535", port)
	}
	server, dir, err := s.find(stream.Context(), r.GetName(), r.GetDir())
	if err != nil {
		return err
	}
	look, err := s.manager.Login(stream.Context(), server, dir, int(r.GetPort()), func(address string) error {
		return stream.Send(&poddv1.LoginMcpServerResponse{Kind: &poddv1.LoginMcpServerResponse_Url{Url: address}})
	})
	if err != nil {
		return err
	}
	return stream.Send(&poddv1.LoginMcpServerResponse{Kind: &poddv1.LoginMcpServerResponse_Server{Server: look.toProto()}})
}

// AnswerMcpLogin gives a login the address where the browser ended.
func (s *service) AnswerMcpLogin(_ context.Context, r *poddv1.AnswerMcpLoginRequest) (*poddv1.AnswerMcpLoginResponse, error) {
	return &poddv1.AnswerMcpLoginResponse{}, s.manager.Answer(r.GetRedirectUrl())
}

// LogoutMcpServer forgets the tokens of an MCP server, and revokes them.
func (s *service) LogoutMcpServer(ctx context.Context, r *poddv1.LogoutMcpServerRequest) (*poddv1.LogoutMcpServerResponse, error) {
	server, dir, err := s.find(ctx, r.GetName(), r.GetDir())
	if err != nil {
		return nil, err
	}
	was, warning, err := s.manager.Logout(ctx, server, dir)
	if err != nil {
		return nil, err
	}
	return &poddv1.LogoutMcpServerResponse{SignedOut: was, Warning: warning}, nil
}

func (look Look) toProto() *poddv1.McpServer {
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
			Tokens: int64(fold.Estimate(len(look.Names[n])+len(t.Description)+len(t.parameters()), 0)),
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
