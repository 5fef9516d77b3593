package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// maxSeriesDays is the largest --days.
const maxSeriesDays = 366

// series prints what a pod, or all pods, used by day or by pod.
func (p *program) series(cmd *cobra.Command, pod, by string, days int) error {
	unit, known := map[string]poddv1.UsageBy{"day": poddv1.UsageBy_USAGE_BY_DAY, "pod": poddv1.UsageBy_USAGE_BY_POD}[by]
	if !known {
		return usagef("--by %q is unknown: use day or pod", by)
	}
	if days < 1 || days > maxSeriesDays {
		return usagef("--days must be 1 to %d, not %d", maxSeriesDays, days)
	}
	return p.with(func(c *client.Client) error {
		req := &poddv1.GetUsageSeriesRequest{Pod: pod, Days: int32(days), By: unit} //nolint:gosec // Checked above.
		resp, err := c.Fleet().GetUsageSeries(cmd.Context(), req)
		if err != nil {
			return err
		}
		return p.print(resp, func(w io.Writer) error { return seriesTable(w, by, resp) })
	})
}

func seriesTable(w io.Writer, by string, s *poddv1.GetUsageSeriesResponse) error {
	if len(s.GetSums()) == 0 {
		fmt.Fprintf(w, "no requests from %s to %s\n", s.GetFirstDay(), s.GetLastDay())
	} else {
		t := newTable(w)
		fmt.Fprintln(t, strings.ToUpper(by)+"\tREQUESTS\tINPUT\tCACHED\tOUTPUT\tLARGEST INPUT\tCOST")
		for _, sum := range s.GetSums() {
			u := wire.UsageFromProto(sum.GetUsage())
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", sanitize.Line(sum.GetDay()+sum.GetPodName()), view.Count(u.Requests), view.Count(u.Input), cachedShare(u),
				view.Count(u.Output), view.Count(sum.GetLargestInput()), orDefault(cost(u.Requests, sum.GetCostUsd(), sum.GetUnpricedRequests()), "-"))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return facts{
		{"damaged", missing(s.GetDamaged(), "entries before the damage do not count")},
		{"purged", missing(s.GetPurged(), "entries of these days were removed")},
	}.writeTo(w)
}

// missing names the pods of which something does not count; empty without one.
func missing(names []string, why string) string {
	if len(names) == 0 {
		return ""
	}
	return sanitize.Line(strings.Join(names, ", ")) + " (" + why + ")"
}
