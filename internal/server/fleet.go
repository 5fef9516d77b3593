package server

import (
	"cmp"
	"context"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/internal/fleet"
	"podd/internal/report"
	"podd/internal/search"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// allPods serves FleetService.
type allPods struct {
	poddv1.UnimplementedFleetServiceServer
	host     *pod.Host
	searcher *search.Searcher
	fleet    *fleet.Fleet
	// route is nil for calls of other nodes, which are not sent on.
	route *fleet.Fleet
}

// ListNodes lists the podd of the database.
func (s *allPods) ListNodes(ctx context.Context, _ *poddv1.ListNodesRequest) (*poddv1.ListNodesResponse, error) {
	return s.fleet.ListNodes(ctx)
}

// RemoveNode removes a node that is gone for good.
func (s *allPods) RemoveNode(ctx context.Context, r *poddv1.RemoveNodeRequest) (*poddv1.RemoveNodeResponse, error) {
	return s.fleet.RemoveNode(ctx, r)
}

// MovePod gives a pod to this node.
func (s *allPods) MovePod(ctx context.Context, r *poddv1.MovePodRequest) (*poddv1.MovePodResponse, error) {
	return s.fleet.MovePod(ctx, r)
}

// GetUsageSeries sums up what pods used, by day or by pod.
func (s *allPods) GetUsageSeries(ctx context.Context, r *poddv1.GetUsageSeriesRequest) (*poddv1.GetUsageSeriesResponse, error) {
	q := report.SeriesQuery{Pod: r.GetPod(), Only: reaching(ctx).only(ctx), Days: int(cmp.Or(r.GetDays(), usualDays))}
	switch r.GetBy() {
	case poddv1.UsageBy_USAGE_BY_UNSPECIFIED, poddv1.UsageBy_USAGE_BY_DAY:
	case poddv1.UsageBy_USAGE_BY_POD:
		q.ByPod = true
	default:
		return nil, item.Errorf(item.KindInvalid, "UNKNOWN_BY", "podd does not know how to sum up by %d: ask by day or by pod", r.GetBy())
	}
	series, err := report.Usage(ctx, s.host, q)
	if err != nil {
		return nil, err
	}
	answer := &poddv1.GetUsageSeriesResponse{FirstDay: series.First, LastDay: series.Last, Damaged: series.Damaged, Purged: series.Purged}
	for _, sum := range series.Sums {
		answer.Sums = append(answer.Sums, &poddv1.UsageSum{
			Day: sum.Day, Pod: sum.Pod, PodName: sum.Name,
			Usage: wire.UsageToProto(sum.Usage), CostUsd: sum.Cost, UnpricedRequests: sum.Unpriced, LargestInput: sum.Largest,
		})
	}
	return answer, nil
}

// usualDays is how many days a series has if the request does not say.
const usualDays = 30

// workToProto is nil for a watcher that did not ask for it.
func workToProto(w *report.Work) *poddv1.PodWork {
	if w == nil {
		return nil
	}
	out := &poddv1.PodWork{
		TokensPerSecond: int32(w.TokensPerSecond), ContextTokens: int64(w.Tokens), Window: int64(w.Window), //nolint:gosec // Far below.
		Step:        int32(w.Step), //nolint:gosec // Far below.
		TurnCostUsd: w.Turn.Cost, TurnUnpricedRequests: w.Turn.Unpriced, DayCostUsd: w.Day.Cost, DayUnpricedRequests: w.Day.Unpriced,
	}
	if w.Tools != "" {
		out.Tools = strings.Split(w.Tools, ",")
	}
	if !w.Began.IsZero() {
		out.TurnBegan = timestamppb.New(w.Began)
	}
	return out
}

// searchKindPrefix precedes the name of a search.Kind in its enum value.
const searchKindPrefix = "SEARCH_KIND_"

// Search searches the logs.
func (s *allPods) Search(r *poddv1.SearchRequest, out poddv1.FleetService_SearchServer) error {
	ctx := out.Context()
	q := search.Query{Text: r.GetText(), Pod: r.GetPod(), Only: reaching(ctx).only(ctx), Limit: int(r.GetLimit())}
	for _, kind := range r.GetKinds() {
		name, known := strings.CutPrefix(kind.String(), searchKindPrefix)
		if !known || kind == poddv1.SearchKind_SEARCH_KIND_UNSPECIFIED {
			return item.Errorf(item.KindInvalid, "UNKNOWN_KIND", "podd does not know the kind %d", kind)
		}
		q.Kinds = append(q.Kinds, search.Kind(strings.ToLower(name)))
	}
	if r.GetSince() != nil {
		q.Since = r.GetSince().AsTime()
	}
	var sent error
	q.Warn = func(text string) {
		if sent == nil {
			sent = out.Send(&poddv1.SearchResponse{Kind: &poddv1.SearchResponse_Warning{Warning: text}})
		}
	}
	for h, err := range s.searcher.Search(ctx, q) {
		if err == nil && sent == nil {
			err = out.Send(&poddv1.SearchResponse{Kind: &poddv1.SearchResponse_Hit{Hit: hitToProto(h)}})
		}
		if err != nil {
			return err
		}
	}
	return sent
}

func hitToProto(h search.Hit) *poddv1.SearchHit {
	return &poddv1.SearchHit{
		Pod: h.Pod, PodName: h.Name, Seq: int64(h.Seq), Turn: h.Turn, Time: timestamppb.New(h.Time),
		Kind:    poddv1.SearchKind(poddv1.SearchKind_value[searchKindPrefix+strings.ToUpper(string(h.Kind))]),
		Excerpt: h.Excerpt.Text, MatchStart: int32(h.Start), MatchEnd: int32(h.End), TakenBack: h.TakenBack,
	}
}
