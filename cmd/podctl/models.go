package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/catalog"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newModelsCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models [ENDPOINT]",
		Short: "List the models of endpoints",
		Long: "Lists the models that endpoints offer, with what podd knows about each and where that is from. An endpoint that " +
			"has no list shows the models of the configuration, and those that its vendor publishes.",
		Args:              operands,
		ValidArgsFunction: p.completeEndpoints(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.listModels(cmd.Context(), strings.Join(args, ""))
		},
	}
	cmd.AddCommand(newModelsRefreshCommand(p))
	return cmd
}

type refreshFlags struct {
	from    string
	builtin bool
}

func newModelsRefreshCommand(p *program) *cobra.Command {
	var flags refreshFlags
	cmd := &cobra.Command{
		Use:   "refresh",
		Short: "Replace the catalogue of models",
		Long: "Gets the catalogue of models.dev, keeps the vendors' own models, and gives it to podd, which stores it. Prints " +
			"what changes for models that pods use. Prices and windows take effect at each pod's next turn. podd itself " +
			"never gets it.",
		Example: "  podctl models refresh\n  podctl models refresh --from catalog.json",
		Args:    operands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.builtin && flags.from != "" {
				return usagef("--builtin and --from exclude each other")
			}
			r := &poddv1.RefreshCatalogRequest{Builtin: flags.builtin}
			if !flags.builtin {
				c, err := published(cmd.Context(), p.stdin, flags.from)
				if err != nil {
					return err
				}
				r.Catalog = c.Encode()
			}
			return p.with(func(c *client.Client) error {
				resp, err := c.Admin().RefreshCatalog(cmd.Context(), r)
				if err != nil {
					return err
				}
				return p.print(resp, func(w io.Writer) error { return writeRefreshed(w, resp) })
			})
		},
	}
	cmd.Flags().StringVar(&flags.from, "from", "", "read a downloaded catalog.json instead of "+catalog.Address+"; - is standard input")
	cmd.Flags().BoolVar(&flags.builtin, "builtin", false, "go back to the catalogue that this podd was built with")
	return cmd
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

func writeRefreshed(w io.Writer, r *poddv1.RefreshCatalogResponse) error {
	after := r.GetAfter()
	lines := []string{fmt.Sprintf("catalogue: %s of %s, before of %s", plural(int(after.GetModels()), "model"), after.GetDate(), r.GetBefore().GetDate())}
	for _, c := range r.GetChanges() {
		lines = append(lines, fmt.Sprintf("%s: %s -> %s", c.GetModel(), described(c.GetBefore()), described(c.GetAfter())))
	}
	if len(r.GetChanges()) == 0 {
		lines = append(lines, "nothing changes for the models in use")
	}
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
