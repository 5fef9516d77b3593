package daemon

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"podd/internal/config"
	"podd/internal/endpoints"
	"podd/pkg/fold"
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
		return nil, item.Errorf(item.KindNotFound, "NO_ENDPOINT", "there is no endpoint %q: the endpoints are %s", name, strings.Join(names, ", "))
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
			listings[i] = endpoints.NewListing(e, offers, err, l.chosen(ctx, e.Name, err == nil), d.host.Settings().Models)
		})
	}
	wg.Wait()
	return listings, nil
}

// doubtTime bounds how long a check of a model's name waits for the endpoint.
const doubtTime = 1500 * time.Millisecond

// doubt says why a model's name is probably wrong: neither its endpoint nor the catalogue
// knows it. It is empty for a good name, and without any list.
func (d *Daemon) doubt(ctx context.Context, name string) string {
	return d.loaded.Load().doubt(ctx, name, d.host.Settings().Models)
}

func (l *loaded) doubt(ctx context.Context, name string, models fold.Models) string {
	r := l.router()
	ref, err := r.Find(name)
	if err != nil || ref.Model == "" {
		return ""
	}
	ref = r.Full(ref)
	named := func(m config.ModelOptions) bool { return m.Model == ref }
	list := l.endpoints.List()
	i := slices.IndexFunc(list, func(e endpoints.Endpoint) bool { return e.Name == ref.Endpoint })
	if i < 0 || slices.ContainsFunc(l.ModelOptions, named) || list[i].Publishes(ref.Model, models) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, doubtTime)
	defer cancel()
	offers, err := l.endpoints.Offers(ctx, ref.Endpoint)
	if err != nil {
		offers = nil
	}
	return list[i].Doubt(ref.Model, offers, models)
}

// chosen are the models that the configuration names. The default one of an endpoint that
// answered is known even if the configuration leaves it open.
func (l *loaded) chosen(ctx context.Context, endpoint string, answers bool) endpoints.Chosen {
	r := l.router()
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

// router finds models and endpoints; it counts no requests.
func (l *loaded) router() *llm.Router {
	return l.endpoints.Router(func(m llm.Model) llm.Model { return m })
}

// hidden says which endpoints hide models of the default one.
func (l *loaded) hidden(models fold.Models) []string {
	return endpoints.Hidden(l.endpoints.List(), l.Endpoint, models)
}

// doubts say which models of the configuration have names that are probably wrong, if one
// of the keys that changed may be the cause.
func (l *loaded) doubts(ctx context.Context, keys []string, models fold.Models) []string {
	if !slices.ContainsFunc(keys, func(key string) bool {
		return slices.Contains([]string{"model", "fallback_models", "endpoint", "base_url"}, key) || strings.HasPrefix(key, "endpoints.")
	}) {
		return nil
	}
	found := make([]string, 1+len(l.Pods.Fallbacks))
	var wg sync.WaitGroup
	for i, ref := range append([]item.ModelRef{l.Pods.Model}, l.Pods.Fallbacks...) {
		wg.Go(func() { found[i] = l.doubt(ctx, l.router().Full(ref).String(), models) })
	}
	wg.Wait()
	return slices.DeleteFunc(found, func(says string) bool { return says == "" })
}

// warnNames raises an alert for each sentence, and returns them.
func (d *Daemon) warnNames(says []string) []string {
	for _, text := range says {
		d.Logger.Warn("a name in the configuration is probably wrong", "why", text)
		d.host.Alerts.Raise(item.LevelWarn, "config", text)
	}
	return says
}

// others are the models that the configuration names besides the default one.
func (l *loaded) others() (names []string) {
	for _, ref := range l.Pods.Fallbacks {
		names = append(names, ref.String())
	}
	for _, m := range l.ModelOptions {
		names = append(names, m.Model.String())
	}
	return names
}
