package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// listModels prints what an endpoint offers, or what all offer if it is empty.
func (p *program) listModels(ctx context.Context, endpoint string) error {
	return p.with(func(c *client.Client) error {
		resp, err := c.Admin().ListModels(ctx, &poddv1.ListModelsRequest{Endpoint: valid(endpoint)})
		if err != nil {
			return err
		}
		return p.print(resp, func(w io.Writer) error { return writeModels(w, resp) })
	})
}

// writeModels writes a row for each model, then a line for each endpoint without a list.
func writeModels(w io.Writer, r *poddv1.ListModelsResponse) error {
	t := newTable(w)
	fmt.Fprintln(t, "NAME\tWINDOW\tOUTPUT\tIN/OUT PER MILLION\tEFFORT\tIMAGES\tFROM")
	var missing []string
	for _, e := range r.GetEndpoints() {
		for _, m := range e.GetModels() {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", sanitize.Line(m.GetName())+mark(m), tokens(m.GetWindow()), tokens(m.GetMaxOutput()), prices(m),
				sanitize.Line(orDash(strings.Join(m.GetEffort(), ","))), images(m), orDash(sources(m.GetFrom())))
		}
		if e.GetError() != "" {
			missing = append(missing, fmt.Sprintf("%s: no list: %s", e.GetEndpoint(), e.GetError()))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	which := "built-in"
	if r.GetRefreshed() {
		which = "refreshed"
	}
	missing = append(missing, fmt.Sprintf("%s catalogue: %s", which, r.GetCatalog().GetDate()))
	for _, line := range missing {
		if _, err := fmt.Fprintln(w, sanitize.Line(line)); err != nil {
			return err
		}
	}
	return nil
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

func images(m *poddv1.OfferedModel) string {
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

// completeEndpoints offers the names of the endpoints. It is silent when podd does not
// answer.
func (p *program) completeEndpoints() cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, start string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
		defer cancel()
		_ = p.with(func(c *client.Client) error {
			resp, err := c.Admin().GetStatus(ctx, &poddv1.GetStatusRequest{})
			for _, e := range resp.GetEndpoints() {
				if strings.HasPrefix(e.GetName(), start) && len(args) == 0 {
					names = append(names, cobra.CompletionWithDesc(e.GetName(), e.GetBaseUrl()))
				}
			}
			return err
		})
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeModels offers the models of the endpoints for the flag model.
func (p *program) completeModels(cmd *cobra.Command) {
	mustRegister(cmd.RegisterFlagCompletionFunc("model", func(cmd *cobra.Command, _ []string, start string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
		defer cancel()
		_ = p.with(func(c *client.Client) error {
			resp, err := c.Admin().ListModels(ctx, &poddv1.ListModelsRequest{})
			for _, e := range resp.GetEndpoints() {
				for _, m := range e.GetModels() {
					if strings.HasPrefix(m.GetName(), start) {
						names = append(names, m.GetName())
					}
				}
			}
			return err
		})
		return names, cobra.ShellCompDirectiveNoFileComp
	}))
}

// warn prints what podd warns about.
func (p *program) warn(warnings []string) {
	for _, text := range warnings {
		fmt.Fprintf(p.stderr, "! %s\n", sanitize.Line(text))
	}
}
