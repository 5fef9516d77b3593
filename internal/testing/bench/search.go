package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	poddv1 "podd/proto/podd/v1"
)

// searches are the queries, and how many hits each has.
var searches = []struct {
	name    string
	request *poddv1.SearchRequest
	hits    int
}{
	{"rare", &poddv1.SearchRequest{Text: planted}, plantedTimes},
	{"rare, other case", &poddv1.SearchRequest{Text: "zanzibar quokka"}, plantedTimes},
	{"frequent", &poddv1.SearchRequest{Text: "return"}, searchLimit},
	{"three letters, frequent", &poddv1.SearchRequest{Text: "int"}, searchLimit},
	{"three letters, absent", &poddv1.SearchRequest{Text: "zqx"}, 0},
	{"absent", &poddv1.SearchRequest{Text: "flux capacitor"}, 0},
	{"absent, frequent letters", &poddv1.SearchRequest{Text: "tesneretion"}, 0},
	{"absent, escaped in JSON", &poddv1.SearchRequest{Text: "\"quoted\" wombat"}, 0},
	{"absent, not ASCII", &poddv1.SearchRequest{Text: "größe der Straße"}, 0},
	{"absent, no ASCII", &poddv1.SearchRequest{Text: "ошибка сервера"}, 0},
	{"one pod", &poddv1.SearchRequest{Text: "flux capacitor", Pod: nameOfLog(logPods / 2)}, 0},
	{"one kind", &poddv1.SearchRequest{Text: planted, Kinds: []poddv1.SearchKind{poddv1.SearchKind_SEARCH_KIND_PROMPT}}, plantedTimes},
	{"results", &poddv1.SearchRequest{Text: planted, Kinds: []poddv1.SearchKind{poddv1.SearchKind_SEARCH_KIND_RESULT}}, 0},
	{"a week", &poddv1.SearchRequest{Text: "flux capacitor", Since: timestamppb.New(time.Now().AddDate(0, 0, -7))}, 0},
}

// searchLimit is that of podctl.
const searchLimit = 50

// measureSearch measures podd alone: searches in a GiB of logs that the page cache has.
func measureSearch(ctx context.Context, r *rig) error {
	turn, err := r.recorded(ctx, 9)
	if err != nil {
		return err
	}
	dir, err := r.database("logs", func(w writer) error { return w.logs(ctx, turn) })
	if err != nil {
		return err
	}
	s, err := r.start(ctx, poddKind, dir, nil)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.searchAll(ctx, map[string][]float64{}); err != nil {
		return err
	}
	before, err := cpu(s.pid)
	if err != nil {
		return err
	}
	took := map[string][]float64{}
	for range r.reps {
		if err := s.searchAll(ctx, took); err != nil {
			return err
		}
	}
	after, err := cpu(s.pid)
	if err != nil {
		return err
	}
	all := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(took))...)))
	r.results.add(rowSearchHalf, r.podd, median(all))
	r.results.add(rowSearchMost, r.podd, all[len(all)*95/100])
	r.results.add(rowSearchCPU, r.podd, milliseconds(after-before)/float64(len(all)))
	var each []string
	for _, q := range searches {
		each = append(each, q.name+" "+number(median(took[q.name])))
	}
	r.results.note("Searches, ms: %s.", strings.Join(each, "; "))
	return nil
}

// searchAll runs each of the searches once, and adds how long each took.
func (s *subject) searchAll(ctx context.Context, took map[string][]float64) error {
	for _, q := range searches {
		q.request.Limit = searchLimit
		begun := time.Now()
		hits, err := s.search(ctx, q.request)
		if err != nil {
			return err
		}
		took[q.name] = append(took[q.name], milliseconds(time.Since(begun)))
		if hits != q.hits {
			return fmt.Errorf("the search %q found %d entries, not %d", q.name, hits, q.hits)
		}
	}
	return nil
}

func (s *subject) search(ctx context.Context, q *poddv1.SearchRequest) (hits int, err error) {
	stream, err := s.client.Fleet().Search(ctx, q)
	if err != nil {
		return 0, err
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return hits, nil
		}
		if err != nil {
			return hits, err
		}
		if m.GetHit() != nil {
			hits++
		}
	}
}
