package daemon

import (
	"context"
	"strings"
	"sync"
	"time"

	"podd/internal/endpoints"
	"podd/pkg/item"
	"podd/pkg/llm"
)

// offersTime bounds how long podd waits for the lists of endpoints.
const offersTime = 10 * time.Second

// offers lists the models of an endpoint, or of all if name is empty. It asks them at the
// same time; one that does not answer keeps no other from its place.
func (d *Daemon) offers(ctx context.Context, name string) ([]endpoints.Listing, error) {
	l := d.loaded.Load()
	var asked []endpoints.Endpoint
	var names []string
	for _, e := range l.endpoints.List() {
		names = append(names, e.Name)
		if name == "" || name == e.Name {
			asked = append(asked, e)
		}
	}
	if len(asked) == 0 {
		return nil, item.Errorf(item.KindNotFound, "NO_ENDPOINT", "there is no endpoint %q: there are %s", name, strings.Join(names, ", "))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, offersTime, &llm.Error{
		Class: llm.ClassNetwork, Message: "the endpoint did not list its models in " + offersTime.String() + "; try again",
	})
	defer cancel()
	listings := make([]endpoints.Listing, len(asked))
	var wg sync.WaitGroup
	for i, e := range asked {
		wg.Go(func() {
			offers, err := l.endpoints.Offers(ctx, e.Name)
			listings[i] = endpoints.NewListing(e, offers, err, l.chosen(ctx, e.Name, err == nil), d.host.Models())
		})
	}
	wg.Wait()
	return listings, nil
}

// chosen are the models that the configuration names. The default one of an endpoint that
// answered is known even if the configuration leaves it open.
func (l *loaded) chosen(ctx context.Context, endpoint string, answers bool) endpoints.Chosen {
	r := l.endpoints.Router(func(m llm.Model) llm.Model { return m })
	c := endpoints.Chosen{Default: r.Full(l.Pods.Model)}
	if own := c.Default.Endpoint == endpoint; own && c.Default.Model == "" && (answers || r.Endpoints[endpoint].NoVendors) {
		if ref, err := r.Resolve(ctx, c.Default); err == nil {
			c.Default = ref
		}
	}
	for _, ref := range l.Pods.Fallbacks {
		c.Fallbacks = append(c.Fallbacks, r.Full(ref))
	}
	for _, m := range l.ModelOptions {
		c.Others = append(c.Others, m.Model)
	}
	return c
}
