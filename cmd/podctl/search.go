package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/internal/typo"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// searchOptions are the flags of search, and the request that they make.
type searchOptions struct {
	pod, since string
	kinds      []string
	limit      int
	req        *poddv1.SearchRequest
}

// maxHits is the largest -n; one more tells whether there are more.
const maxHits = 999

func (o *searchOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "search TEXT...",
		Short: "Find text in the logs of all pods",
		Long: "Finds TEXT in prompts, answers, reasoning, tool calls and their results, and notes: literally, in any case, the " +
			"newest entry first. It also finds what a rewind took back, and says so, but nothing in the trash. podctl tail " +
			"--after SEQ shows what followed. Exit code 4: nothing found.",
		Example: "  podctl search connection refused\n  podctl search -p api --kind prompt --since 7d \"retry\"",
		PreRunE: func(cmd *cobra.Command, args []string) (err error) {
			o.req, err = o.request(cmd, strings.Join(args, " "), p.now())
			return err
		},
		RunE: p.onPodd(o.run),
	}
	f := cmd.Flags()
	f.StringVarP(&o.pod, "pod", "p", "", "only the log of this pod")
	f.StringSliceVar(&o.kinds, "kind", nil, "only these: "+strings.Join(searchKinds(), ", "))
	f.StringVar(&o.since, "since", "", "only entries since then: 7d, 12h or 2026-11-20")
	f.IntVarP(&o.limit, "limit", "n", 50, "how many entries to show at most")
	completeWith(cmd, "kind", searchKinds()...)
	completeWith(cmd, "since")
	completeWith(cmd, "limit")
	p.completeFlag(cmd, "pod", pods)
	return cmd
}

const searchKindPrefix = "SEARCH_KIND_"

// searchKinds are the names of the kinds, in the order of their numbers.
func searchKinds() (names []string) {
	for _, n := range slices.Sorted(maps.Keys(poddv1.SearchKind_name)) {
		if n > 0 {
			names = append(names, searchKind(poddv1.SearchKind(n)))
		}
	}
	return names
}

func searchKind(kind poddv1.SearchKind) string {
	return strings.ToLower(strings.TrimPrefix(kind.String(), searchKindPrefix))
}

// request checks the command line.
func (o *searchOptions) request(cmd *cobra.Command, text string, now time.Time) (*poddv1.SearchRequest, error) {
	req := &poddv1.SearchRequest{Text: valid(text), Pod: valid(o.pod), Limit: int32(o.limit) + 1} //nolint:gosec // Checked below.
	if strings.TrimSpace(text) == "" {
		return nil, usagef("the text to search for is empty: podctl search TEXT")
	}
	if o.limit < 1 || o.limit > maxHits {
		return nil, usagef("-n must be 1 to %d, not %d", maxHits, o.limit)
	}
	for _, kind := range o.kinds {
		if !slices.Contains(searchKinds(), kind) {
			if near := typo.Nearest(kind, searchKinds()); near != "" {
				return nil, usagef("unknown kind %q: did you mean %s?", kind, near)
			}
			return nil, usagef("unknown kind %q: use %s", kind, strings.Join(searchKinds(), ", "))
		}
		req.Kinds = append(req.Kinds, poddv1.SearchKind(poddv1.SearchKind_value[searchKindPrefix+strings.ToUpper(kind)]))
	}
	if cmd.Flags().Changed("kind") && len(o.kinds) == 0 {
		return nil, usagef("--kind is empty: use %s", strings.Join(searchKinds(), ", "))
	}
	if cmd.Flags().Changed("since") {
		since, ok := sinceTime(o.since, now)
		if !ok {
			return nil, usagef("--since %q is not a time: write 7d, 12h or 2026-11-20", o.since)
		}
		req.Since = timestamppb.New(since)
	}
	return req, nil
}

// sinceTime is a time before now: so many days or hours ago, or a day.
func sinceTime(text string, now time.Time) (time.Time, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return now.AddDate(0, 0, -int(n)), err == nil //nolint:gosec // 16 bits
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return day, true
	}
	ago, err := time.ParseDuration(text)
	return now.Add(-ago), err == nil && ago >= 0
}

func (o *searchOptions) run(ctx context.Context, s *session, _ []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.Fleet().Search(ctx, o.req)
	if err != nil {
		return err
	}
	t := table{"POD\t#SEQ\tTIME\tKIND\tEXCERPT"}
	shown := 0
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return wire.FromStatus(err)
		}
		if text := m.GetWarning(); text != "" {
			s.warn([]string{text})
			continue
		}
		if shown == o.limit {
			fmt.Fprintf(s.stderr, "these are the newest %d: narrow the search with -p, --kind or --since, or raise -n\n", shown)
			break
		}
		shown++
		if err := s.print(m.GetHit(), func(io.Writer) error { t.row(hit(m.GetHit())...); return nil }); err != nil {
			return err
		}
	}
	switch {
	case shown == 0:
		return item.Errorf(item.KindNotFound, "NOTHING_FOUND", "no entry has %q", o.req.GetText())
	case s.output == outputJSON:
		return nil
	}
	return t.writeTo(s.stdout)
}

// hit are the cells of a row.
func hit(h *poddv1.SearchHit) []any {
	kind := searchKind(h.GetKind())
	if h.GetTakenBack() {
		kind += " (taken back)"
	}
	return []any{cmp.Or(h.GetPodName(), h.GetPod()), fmt.Sprintf("#%d", h.GetSeq()), stamp(h.GetTime().AsTime()), kind, h.GetExcerpt()}
}
