package plugin

import (
	"context"
	"time"

	"google.golang.org/grpc"

	poddv1 "podd/proto/podd/v1"
)

// Register serves PluginService.
func (b *Book) Register(g grpc.ServiceRegistrar) {
	poddv1.RegisterPluginServiceServer(g, &service{book: b})
}

type service struct {
	poddv1.UnimplementedPluginServiceServer
	book *Book
}

// AddPlugin shows what a plugin would run, or adds it.
func (s *service) AddPlugin(ctx context.Context, r *poddv1.AddPluginRequest) (*poddv1.AddPluginResponse, error) {
	if r.GetDigest() != "" {
		p, err := s.book.Add(ctx, r.GetDir(), r.GetDigest(), time.Now())
		return &poddv1.AddPluginResponse{Plugin: p.toProto("added")}, err
	}
	p, state, err := s.book.Look(r.GetDir())
	return &poddv1.AddPluginResponse{Plugin: p.toProto(state)}, err
}

// ListPlugins lists the plugins that were added.
func (s *service) ListPlugins(context.Context, *poddv1.ListPluginsRequest) (*poddv1.ListPluginsResponse, error) {
	resp := &poddv1.ListPluginsResponse{}
	for _, l := range s.book.List() {
		p := l.toProto("added")
		if p.Error = l.Wrong; l.Wrong != "" {
			p.State = "ignored"
		}
		resp.Plugins = append(resp.Plugins, p)
	}
	return resp, nil
}

// RemovePlugin forgets a plugin.
func (s *service) RemovePlugin(ctx context.Context, r *poddv1.RemovePluginRequest) (*poddv1.RemovePluginResponse, error) {
	return &poddv1.RemovePluginResponse{}, s.book.Remove(ctx, r.GetName())
}

func (p Plugin) toProto(state string) *poddv1.Plugin {
	return &poddv1.Plugin{Name: p.Name, Dir: p.Dir, Digest: p.Digest, State: state, Runs: p.Runs, Refused: p.Refused}
}
