package metrics

import (
	"sync"

	"podd/pkg/hook"
	"podd/pkg/item"
)

// maxSeries bounds the series of a family: a model may call tools by any name. Series over
// the limit are counted as "other".
const maxSeries = 256

// Recorder counts events since podd started. Its methods may be called from any goroutine.
type Recorder struct {
	hook.Base
	// Cost is the cost of a request in USD, if its model has a price.
	Cost func(item.RequestUsage) (float64, bool)

	mu     sync.Mutex
	values map[key]float64
	// series counts those of each family.
	series map[string]int
}

type key struct {
	family string
	labels Labels
}

// NewRecorder creates a Recorder that counts from zero.
func NewRecorder(cost func(item.RequestUsage) (float64, bool)) *Recorder {
	return &Recorder{Cost: cost, values: make(map[key]float64), series: make(map[string]int)}
}

// Name is the hook's name.
func (r *Recorder) Name() string { return "metrics" }

// Samples returns the current values.
func (r *Recorder) Samples() []Sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	samples := make([]Sample, 0, len(r.values))
	for k, v := range r.values {
		samples = append(samples, Sample{k.family, k.labels, v})
	}
	return samples
}

func (r *Recorder) add(family string, l Labels, n float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := key{family, l}
	if _, known := r.values[k]; !known {
		if r.series[family] >= maxSeries {
			k.labels.Value1 = "other"
		}
		if _, known := r.values[k]; !known {
			r.series[family]++
		}
	}
	r.values[k] += n
}

// Entry counts an entry.
func (r *Recorder) Entry(_ string, e item.Entry) {
	switch k := e.Kind.(type) {
	case item.TurnEnded:
		r.add(turns, Label("outcome", string(k.Outcome)), 1)
	case item.Recovered:
		r.add(recovered, Labels{}, 1)
	case item.RequestUsage:
		r.usage(k)
	case item.ItemAdded:
		if result, ok := k.Item.(item.ToolResult); ok {
			outcome := "ok"
			if result.IsError {
				outcome = "error"
			}
			r.add(toolCalls, Labels{"tool", result.Tool, "outcome", outcome}, 1)
			r.add(toolSeconds, Label("tool", result.Tool), float64(result.DurationMS)/1000)
		}
	case item.ApprovalRequested:
		r.add(approvals, Label("event", "asked"), 1)
	case item.ApprovalResolved:
		answer := "denied"
		if k.Approved {
			answer = "approved"
		}
		r.add(approvals, Label("event", answer), 1)
	}
}

// usage counts the tokens of a request. A sub-pod's usage is in its own log.
func (r *Recorder) usage(u item.RequestUsage) {
	if u.Purpose == item.PurposeSubPod {
		return
	}
	for kind, n := range map[string]int64{
		"input": u.Usage.Input, "cached_input": u.Usage.CachedInput, "cache_write": u.Usage.CacheWrite,
		"output": u.Usage.Output, "reasoning": u.Usage.Reasoning,
	} {
		r.add(tokens, Labels{"model", u.Model, "kind", kind}, float64(n))
	}
	if usd, ok := r.Cost(u); ok {
		r.add(cost, Label("model", u.Model), usd)
	}
}

// Alert counts an alert.
func (r *Recorder) Alert(a item.Alert) {
	r.add(alerts, Labels{"level", string(a.Level), "source", a.Source}, 1)
}
