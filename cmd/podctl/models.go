package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/catalog"
	poddv1 "podd/proto/podd/v1"
)

func newModelsCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models [ENDPOINT]",
		Short: "List the models of endpoints",
		Long: "Lists the models that endpoints offer, with what podd knows about each and where that is from. An endpoint that " +
			"has no list shows the models of the configuration, and those that its vendor publishes.",
		ValidArgsFunction: p.complete(1, endpoints),
		RunE:              p.onPodd(runModels),
	}
	cmd.AddCommand(new(refreshOptions).command(p))
	return cmd
}

func runModels(ctx context.Context, s *session, args []string) error {
	resp, err := s.Admin().ListModels(ctx, &poddv1.ListModelsRequest{Endpoint: valid(strings.Join(args, ""))})
	return s.answer(resp, err, func(w io.Writer) error { return writeModels(w, resp) })
}

// refreshOptions are the flags of models refresh.
type refreshOptions struct {
	from    string
	builtin bool
}

func (o *refreshOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "refresh",
		Short: "Replace the catalogue of models",
		Long: "Gets the catalogue of models.dev, keeps the vendors' own models, and gives it to podd, which stores it. Prints " +
			"what changes for models that pods use. Prices and windows take effect at each pod's next turn. podd itself " +
			"never gets it.",
		Example: "  podctl models refresh\n  podctl models refresh --from catalog.json",
		RunE:    p.onPodd(o.run),
	}
	cmd.Flags().StringVar(&o.from, "from", "", "read a downloaded catalog.json instead of "+catalog.Address+"; - is standard input")
	cmd.Flags().BoolVar(&o.builtin, "builtin", false, "go back to the catalogue that this podd was built with")
	return cmd
}

func (o *refreshOptions) run(ctx context.Context, s *session, _ []string) error {
	if o.builtin && o.from != "" {
		return usagef("--builtin and --from exclude each other")
	}
	r := &poddv1.RefreshCatalogRequest{Builtin: o.builtin}
	if !o.builtin {
		c, err := published(ctx, s.stdin, o.from)
		if err != nil {
			return err
		}
		r.Catalog = c.Encode()
	}
	resp, err := s.Admin().RefreshCatalog(ctx, r)
	return s.answer(resp, err, func(w io.Writer) error { return writeLines(w, refreshed(resp)) })
}

// Bounds of the published catalogue: its size in bytes, and how long getting it may take.
const (
	maxPublished  = 32 << 20
	publishedTime = time.Minute
)

// published is the catalogue of models.dev, from a file, - for stdin, or else from its
// address.
func published(ctx context.Context, stdin io.Reader, from string) (*catalog.Catalog, error) {
	source, open := from, func() (io.ReadCloser, error) { return os.Open(from) }
	switch from {
	case "":
		ctx, cancel := context.WithTimeout(ctx, publishedTime)
		defer cancel()
		source, open = catalog.Address, func() (io.ReadCloser, error) { return download(ctx, catalog.Address) }
	case "-":
		source, open = "standard input", func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }
	}
	r, err := open()
	if err != nil {
		return nil, fmt.Errorf("cannot get the catalogue: %w", err)
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxPublished+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read the catalogue from %s: %w", source, err)
	case len(text) > maxPublished:
		return nil, fmt.Errorf("%s has more than %d bytes: it is not the catalogue", source, maxPublished)
	}
	c, err := catalog.Reduce(text, source, time.Now().UTC().Format(time.DateOnly))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return c, nil
}

func download(ctx context.Context, address string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w; download it elsewhere and use --from FILE", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s answers %s", address, resp.Status), resp.Body.Close())
	}
	return resp.Body, nil
}

func refreshed(r *poddv1.RefreshCatalogResponse) []string {
	after := r.GetAfter()
	lines := []string{fmt.Sprintf("catalogue: %s of %s, before of %s", plural(int(after.GetModels()), "model"), after.GetDate(), r.GetBefore().GetDate())}
	for _, c := range r.GetChanges() {
		lines = append(lines, fmt.Sprintf("%s: %s -> %s", c.GetModel(), described(c.GetBefore()), described(c.GetAfter())))
	}
	if len(r.GetChanges()) == 0 {
		lines = append(lines, "nothing changes for the models in use")
	}
	return lines
}

// writeLines writes lines, made safe.
func writeLines(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, sanitize.Line(line)); err != nil {
			return err
		}
	}
	return nil
}

// described is what people compare of a model.
func described(m *poddv1.CatalogModel) string {
	if m == nil {
		return "unknown"
	}
	parts := []string{fmt.Sprintf("window %d", m.GetWindow())}
	if m.GetInputPrice() > 0 {
		parts = append(parts, fmt.Sprintf("$%g in, $%g cached, $%g out", m.GetInputPrice(), m.GetCachedInputPrice(), m.GetOutputPrice()))
	}
	if m.GetImages() {
		parts = append(parts, "images")
	}
	if len(m.GetEffort()) > 0 {
		parts = append(parts, "effort "+strings.Join(m.GetEffort(), "|"))
	}
	return strings.Join(parts, ", ")
}

// writeModels writes a row for each model, then a line for each endpoint without a list.
func writeModels(w io.Writer, r *poddv1.ListModelsResponse) error {
	t := table{"NAME\tWINDOW\tOUTPUT\tIN/OUT PER MILLION\tEFFORT\tIMAGES\tFROM"}
	var notes []string
	for _, e := range r.GetEndpoints() {
		for _, m := range e.GetModels() {
			t.row(m.GetName()+mark(m), tokens(m.GetWindow()), tokens(m.GetMaxOutput()), prices(m), orDash(strings.Join(m.GetEffort(), ",")), takesImages(m), orDash(sources(m.GetFrom())))
		}
		if e.GetError() != "" {
			notes = append(notes, fmt.Sprintf("%s: no list: %s", e.GetEndpoint(), e.GetError()))
		}
	}
	if err := t.writeTo(w); err != nil {
		return err
	}
	which := "built-in"
	if r.GetRefreshed() {
		which = "refreshed"
	}
	return writeLines(w, append(notes, fmt.Sprintf("%s catalogue: %s", which, r.GetCatalog().GetDate())))
}

// mark says what the configuration uses a model for.
func mark(m *poddv1.OfferedModel) string {
	switch {
	case m.GetIsDefault():
		return " (default)"
	case m.GetFallback() > 0:
		return fmt.Sprintf(" (fallback %d)", m.GetFallback())
	}
	return ""
}

func tokens(n int64) string {
	if n == 0 {
		return "-"
	}
	return view.Count(n)
}

func prices(m *poddv1.OfferedModel) string {
	if m.GetFrom()["price"] == "" {
		return "-"
	}
	return fmt.Sprintf("$%.4g/$%.4g", m.GetInputPrice(), m.GetOutputPrice())
}

func takesImages(m *poddv1.OfferedModel) string {
	switch {
	case m.GetFrom()["images"] == "":
		return "-"
	case m.GetImages():
		return "yes"
	}
	return "no"
}

func orDash(text string) string { return orDefault(text, "-") }

// sources says where facts are from: one word if all are from one place.
func sources(from map[string]string) string {
	var parts []string
	for _, source := range []string{"config", "endpoint", "refreshed", "built-in"} {
		var facts []string
		for fact, at := range from {
			if at == source {
				facts = append(facts, fact)
			}
		}
		slices.Sort(facts)
		switch len(facts) {
		case 0:
		case len(from):
			return source
		default:
			parts = append(parts, source+" "+strings.Join(facts, ","))
		}
	}
	return strings.Join(parts, "; ")
}

// endpoints finds the endpoints.
func endpoints(ctx context.Context, s *session, offer func(value, about string)) error {
	resp, err := s.Admin().GetStatus(ctx, &poddv1.GetStatusRequest{})
	for _, e := range resp.GetEndpoints() {
		offer(e.GetName(), e.GetBaseUrl())
	}
	return err
}

// models finds the models of the endpoints.
func models(ctx context.Context, s *session, offer func(value, about string)) error {
	resp, err := s.Admin().ListModels(ctx, &poddv1.ListModelsRequest{})
	for _, e := range resp.GetEndpoints() {
		for _, m := range e.GetModels() {
			offer(m.GetName(), "")
		}
	}
	return err
}
