package server

import (
	"context"

	"podd/internal/endpoints"
	"podd/pkg/catalog"
	poddv1 "podd/proto/podd/v1"
)

// ListModels lists what endpoints offer.
func (s *admin) ListModels(ctx context.Context, r *poddv1.ListModelsRequest) (*poddv1.ListModelsResponse, error) {
	listings, err := s.offers(ctx, r.GetEndpoint())
	if err != nil {
		return nil, err
	}
	models := s.host.Settings().Models
	out := &poddv1.ListModelsResponse{Catalog: catalogInfo(models.Published()), Refreshed: models.Catalog != nil}
	for _, l := range listings {
		e := &poddv1.EndpointModels{Endpoint: l.Name}
		if l.Failed != nil {
			e.Error = l.Failed.Error()
		}
		for _, m := range l.Models {
			e.Models = append(e.Models, offered(m))
		}
		out.Endpoints = append(out.Endpoints, e)
	}
	return out, nil
}

func offered(m endpoints.Listed) *poddv1.OfferedModel {
	out := &poddv1.OfferedModel{
		Name: m.Ref.String(), Window: int64(m.Window), MaxOutput: int64(m.Output), Effort: m.Effort, Images: m.Images == catalog.Yes,
		From: m.From, IsDefault: m.Default, Fallback: int32(m.Fallback),
	}
	if p := m.Price; p != nil {
		out.InputPrice, out.OutputPrice, out.CachedInputPrice, out.CacheWritePrice = p.Input, p.Output, p.CachedInput, p.CacheWrite
	}
	return out
}
