package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"google.golang.org/protobuf/proto"

	"podd/internal/clients/view"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// statsOptions are the flags of stats.
type statsOptions struct {
	watch bool
	by    string
	days  int
}

func (o *statsOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats [POD]",
		Short: "Show what a pod, or all pods, used",
		Long: "Shows the turns, requests, tokens, cost and tool calls of a pod, or of all pods together without those in the " +
			"trash. With --watch it updates every second: in place on a terminal, elsewhere whenever something changes. With " +
			"--by it shows what each of the last days used, or each pod in these days, from the entries that the logs still " +
			"have.\n\n" +
			"INPUT      tokens sent, also those from a cache\n" +
			"CACHED     of these, tokens read from the endpoint's cache\n" +
			"WRITTEN    of these, tokens written to the endpoint's cache\n" +
			"YIELD      CACHED as a share of what each request has in common with the one before\n" +
			"MISSES     requests that read nothing from the cache: after a pause (idle), a new setup, a prune, or for another reason\n" +
			"CUT        results of a tool that were too long for the model and were cut\n" +
			"FULL BYTES the size of these results, KEPT BYTES what the model got of it",
		Example:     "  podctl stats\n  podctl stats api --by day --days 7",
		Annotations: withoutPod("all pods"),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if o.by == "" && cmd.Flags().Changed("days") {
				return usagef("--days needs --by day or --by pod")
			}
			return nil
		},
		RunE: p.onPodd(o.run),
	}
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "update every second")
	cmd.Flags().StringVar(&o.by, "by", "", "sum up by day or pod")
	cmd.Flags().IntVar(&o.days, "days", 30, "with --by: how many days, the last of them today")
	cmd.MarkFlagsMutuallyExclusive("by", "watch")
	completeWith(cmd, "by", "day", "pod")
	completeWith(cmd, "days")
	return cmd
}

func (o *statsOptions) run(ctx context.Context, s *session, args []string) error {
	if o.by != "" {
		return o.series(ctx, s, valid(args[0]))
	}
	req := &poddv1.GetStatsRequest{Pod: valid(args[0])}
	if o.watch {
		return watchStats(ctx, s, req)
	}
	resp, err := s.Pods().GetStats(ctx, req)
	return s.answer(resp, err, func(w io.Writer) error { return writeStats(w, resp) })
}

// cost is empty when no request has a price.
func cost(requests int64, usd float64, unpriced int64) string {
	if requests == unpriced {
		return ""
	}
	text := fmt.Sprintf("$%.4f", usd)
	if unpriced > 0 {
		text += " (" + plural(int(unpriced), "request") + " without a price)"
	}
	return text
}

func writeStats(w io.Writer, s *poddv1.GetStatsResponse) error {
	usage := wire.UsageFromProto(s.GetUsage())
	pruned := "nothing"
	if s.GetPrunes() > 0 {
		pruned = fmt.Sprintf("%s in %s; %s", plural(int(s.GetPrunedResults()), "result"), plural(int(s.GetPrunes()), "pass"),
			spared(s.GetSparedPrunedTokens(), s.GetSparedPrunedUsd()))
	}
	var cut int64
	for _, t := range s.GetTools() {
		cut += t.GetCuts()
	}
	err := facts{
		{"turns", view.Count(s.GetTurns())},
		{"requests", view.Count(usage.Requests)},
		{"tokens", view.Tokens(usage)},
		{"cost", cost(usage.Requests, s.GetCostUsd(), s.GetUnpricedRequests())},
		{"tool calls", view.Count(s.GetToolCalls())},
		{"interrupted", interruptedCalls(s.GetTools())},
		{"pruned", pruned},
		{"cut", when(cut > 0, plural(int(cut), "result")+"; "+spared(s.GetSparedCutTokens(), s.GetSparedCutUsd()))},
		{"damaged", missing(s.GetDamaged(), "counted up to the damaged entry")},
	}.writeTo(w)
	if err != nil {
		return err
	}
	if err := modelTable(s.GetModels()).writeTo(w); err != nil || len(s.GetTools()) == 0 {
		return err
	}
	t := table{"TOOL\tCALLS\tERRORS\tCUT\tFULL BYTES\tKEPT BYTES"}
	for _, tool := range s.GetTools() {
		t.row(tool.GetTool(), view.Count(tool.GetCalls()), view.Count(tool.GetErrors()), view.Count(tool.GetCuts()), view.Count(tool.GetCutTotalBytes()), view.Count(tool.GetCutKeptBytes()))
	}
	return t.writeTo(w)
}

// spared says what requests did not carry.
func spared(tokens int64, usd float64) string {
	text := fmt.Sprintf("requests carried about %s tokens less", view.Count(tokens))
	if usd > 0 {
		text += fmt.Sprintf(", $%.4f as cached input", usd)
	}
	return text
}

// interruptedCalls counts the calls that podd's end interrupted; empty without one.
func interruptedCalls(tools []*poddv1.ToolStats) string {
	var calls, unknown int64
	for _, t := range tools {
		calls += t.GetInterrupted()
		unknown += t.GetUnknown()
	}
	if calls == 0 {
		return ""
	}
	text := plural(int(calls), "call") + " when podd ended"
	if unknown > 0 {
		text += "; the outcome of " + view.Count(unknown) + " is unknown"
	}
	return text
}

// cachedShare is the input read from the cache, and its share of all.
func cachedShare(u item.Usage) string {
	if u.CachedInput == 0 || u.Input == 0 {
		return view.Count(u.CachedInput)
	}
	return fmt.Sprintf("%s (%d%%)", view.Count(u.CachedInput), 100*u.CachedInput/u.Input)
}

// yield is how much of what a cache could have was read from it.
func yield(c item.CacheTotal) string {
	if c.Promised == 0 {
		return "-"
	}
	return fmt.Sprintf("%d%%", 100*c.Read/c.Promised)
}

// misses are the requests that read nothing from a cache, by what came before.
func misses(c item.CacheTotal) string {
	var parts []string
	for _, m := range []struct {
		n    int64
		what string
	}{{c.Idle, "idle"}, {c.Setup, "setup"}, {c.Prune, "prune"}, {c.Other, "other"}} {
		if m.n > 0 {
			parts = append(parts, view.Count(m.n)+" "+m.what)
		}
	}
	return orDefault(strings.Join(parts, ", "), "-")
}

// modelTable shows what each model used.
func modelTable(models []*poddv1.ModelStats) (t table) {
	if len(models) > 0 {
		t = table{"ENDPOINT\tMODEL\tREQUESTS\tINPUT\tCACHED\tWRITTEN\tYIELD\tMISSES\tOUTPUT\tCOST"}
	}
	for _, m := range models {
		usage, cache := wire.UsageFromProto(m.GetUsage()), wire.CacheFromProto(m.GetCache())
		t.row(m.GetEndpoint(), m.GetModel(), view.Count(usage.Requests), view.Count(usage.Input), cachedShare(usage), view.Count(usage.CacheWrite), yield(cache), misses(cache),
			view.Count(usage.Output), orDash(cost(usage.Requests, m.GetCostUsd(), m.GetUnpricedRequests())))
	}
	return t
}

// maxSeriesDays is the largest --days.
const maxSeriesDays = 366

// series prints what a pod, or all pods, used by day or by pod.
func (o *statsOptions) series(ctx context.Context, s *session, pod string) error {
	unit, known := map[string]poddv1.UsageBy{"day": poddv1.UsageBy_USAGE_BY_DAY, "pod": poddv1.UsageBy_USAGE_BY_POD}[o.by]
	if !known {
		return usagef("--by %q is unknown: use day or pod", o.by)
	}
	if o.days < 1 || o.days > maxSeriesDays {
		return usagef("--days must be 1 to %d, not %d", maxSeriesDays, o.days)
	}
	req := &poddv1.GetUsageSeriesRequest{Pod: pod, Days: int32(o.days), By: unit} //nolint:gosec // Checked above.
	resp, err := s.Fleet().GetUsageSeries(ctx, req)
	return s.answer(resp, err, func(w io.Writer) error { return writeSeries(w, o.by, resp) })
}

func writeSeries(w io.Writer, by string, s *poddv1.GetUsageSeriesResponse) error {
	t := table{strings.ToUpper(by) + "\tREQUESTS\tINPUT\tCACHED\tOUTPUT\tLARGEST INPUT\tCOST"}
	if len(s.GetSums()) == 0 {
		t = table{fmt.Sprintf("no requests from %s to %s", s.GetFirstDay(), s.GetLastDay())}
	}
	for _, sum := range s.GetSums() {
		u := wire.UsageFromProto(sum.GetUsage())
		t.row(sum.GetDay()+sum.GetPodName(), view.Count(u.Requests), view.Count(u.Input), cachedShare(u), view.Count(u.Output), view.Count(sum.GetLargestInput()),
			orDash(cost(u.Requests, sum.GetCostUsd(), sum.GetUnpricedRequests())))
	}
	if err := t.writeTo(w); err != nil {
		return err
	}
	return facts{
		{"damaged", missing(s.GetDamaged(), "entries before the damage do not count")},
		{"purged", missing(s.GetPurged(), "entries of these days were removed")},
	}.writeTo(w)
}

// missing names the pods of which something does not count; empty without one.
func missing(names []string, why string) string {
	return when(len(names) > 0, strings.Join(names, ", ")+" ("+why+")")
}

// watchEvery is how often a watching command asks podd.
const watchEvery = time.Second

// watchStats shows what was used, again and again until ctx ends: on a terminal in place, elsewhere whenever it
// changes. If podd goes away after the first answer, it waits for it.
func watchStats(ctx context.Context, s *session, req *poddv1.GetStatsRequest) error {
	defer endWithReader(s.stdout)()
	ticks := time.NewTicker(cmp.Or(s.every, watchEvery))
	defer ticks.Stop()
	f := s.frames()
	var last *poddv1.GetStatsResponse
	away := false
	for {
		resp, err := s.Pods().GetStats(ctx, req)
		switch {
		case err == nil:
			if last == nil || f.inPlace || !proto.Equal(resp, last) {
				err = f.show(s.program, resp)
			}
			last, away = resp, false
		case last != nil && ctx.Err() == nil && item.KindOf(err) == item.KindUnavailable:
			if !away {
				s.warn([]string{"lost the connection to podd; retrying: " + err.Error()})
			}
			away, err = true, nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// frames shows one text after the other.
type frames struct {
	out io.Writer
	// inPlace makes each replace the one before, from the top of the screen.
	inPlace bool
	// height is the number of the screen's lines; nil or 0 when it is unknown.
	height func() int
	shown  int
}

func (p *program) frames() *frames {
	fd, _ := terminal(p.stdout)
	return &frames{
		out: p.stdout, inPlace: p.output == outputText && p.console().OutTerminal,
		height: func() int {
			_, height, _ := term.GetSize(fd) // 0 when it is unknown.
			return height
		},
	}
}

// show prints an answer: as JSON a line, as text in place or below an empty line.
func (f *frames) show(p *program, resp *poddv1.GetStatsResponse) error {
	return p.print(resp, func(io.Writer) error {
		var frame bytes.Buffer
		if err := writeStats(&frame, resp); err != nil {
			return err
		}
		_, err := f.out.Write(f.next(frame.Bytes()))
		return err
	})
}

// next is what to write for the next text.
func (f *frames) next(text []byte) []byte {
	f.shown++
	switch {
	case !f.inPlace && f.shown == 1:
		return text
	case !f.inPlace:
		return append([]byte("\n"), text...)
	}
	const home, clearScreen, clearLine, clearBelow = "\x1b[H", "\x1b[2J", "\x1b[K", "\x1b[J"
	lines := bytes.SplitAfter(text, []byte("\n"))
	if f.height != nil {
		// The cursor is below the text, and must not scroll the screen.
		if most := f.height() - 1; most > 0 && len(lines)-1 > most {
			lines = lines[:most]
		}
	}
	out := []byte(home)
	if f.shown == 1 {
		out = append(out, clearScreen...)
	}
	for _, line := range lines {
		out = append(out, bytes.TrimSuffix(line, []byte("\n"))...)
		if bytes.HasSuffix(line, []byte("\n")) {
			out = append(out, clearLine+"\n"...)
		}
	}
	return append(out, clearBelow...)
}
