package server

import (
	"context"
	"reflect"
	"slices"

	"podd/pkg/catalog"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// maxCatalog bounds a catalogue of models, in bytes.
const maxCatalog = 2 << 20

// RefreshCatalog replaces what podd knows about models.
func (s *admin) RefreshCatalog(ctx context.Context, r *poddv1.RefreshCatalogRequest) (*poddv1.RefreshCatalogResponse, error) {
	var next *catalog.Catalog
	switch text := r.GetCatalog(); {
	case r.GetBuiltin() == (len(text) > 0):
		return nil, item.Errorf(item.KindInvalid, "BAD_CATALOG", "send a catalogue, or ask for the built-in one")
	case len(text) > maxCatalog:
		return nil, item.Errorf(item.KindInvalid, "BAD_CATALOG", "the catalogue has %d bytes, the limit is %d", len(text), maxCatalog)
	case len(text) > 0:
		var err error
		if next, err = catalog.Read(text); err != nil {
			return nil, item.Errorf(item.KindInvalid, "BAD_CATALOG", "%v", err)
		}
	}
	pods, err := s.host.List(ctx, "")
	if err != nil {
		return nil, err
	}
	before, after, err := s.catalog(ctx, next)
	if err != nil {
		return nil, err
	}
	status := s.status()
	names := append([]string{status.Model}, status.Others...)
	for _, p := range pods {
		names = append(names, p.Spec.Model)
	}
	slices.Sort(names)
	return &poddv1.RefreshCatalogResponse{Before: catalogInfo(before), After: catalogInfo(after), Changes: changes(slices.Compact(names), before, after)}, nil
}

func catalogInfo(c *catalog.Catalog) *poddv1.CatalogInfo {
	return &poddv1.CatalogInfo{Source: c.Source, Date: c.Date, Models: int32(len(c.Models))}
}

// changes are the models about which two catalogues say different things.
func changes(names []string, before, after *catalog.Catalog) (out []*poddv1.CatalogChange) {
	for _, name := range names {
		was, had := before.Find(name)
		is, has := after.Find(name)
		if had == has && reflect.DeepEqual(was, is) {
			continue
		}
		c := &poddv1.CatalogChange{Model: name}
		if had {
			c.Before = catalogModel(was)
		}
		if has {
			c.After = catalogModel(is)
		}
		out = append(out, c)
	}
	return out
}

func catalogModel(m catalog.Model) *poddv1.CatalogModel {
	out := &poddv1.CatalogModel{
		Id: m.ID, Vendor: m.Vendor, Window: int64(m.Window), MaxInput: int64(m.Input), MaxOutput: int64(m.Output), Effort: m.Effort, Images: m.Images,
	}
	if p := m.Price; p != nil {
		out.InputPrice, out.OutputPrice, out.CachedInputPrice, out.CacheWritePrice = p.Input, p.Output, p.CachedInput, p.CacheWrite
	}
	return out
}
