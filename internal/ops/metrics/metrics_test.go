package metrics_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"podd/internal/ops/metrics"
	"podd/pkg/hook/hooktest"
	"podd/pkg/item"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parse reads a page as Prometheus does.
func parse(t *testing.T, samples []metrics.Sample) map[string]*dto.MetricFamily {
	t.Helper()
	var page bytes.Buffer
	if err := metrics.Write(&page, samples); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(page.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, page.String())
	}
	return families
}

// value is the value of the series whose labels are all in want, as name=value.
func value(t *testing.T, families map[string]*dto.MetricFamily, name string, want ...string) float64 {
	t.Helper()
	for _, m := range families[name].GetMetric() {
		var labels []string
		for _, l := range m.GetLabel() {
			labels = append(labels, l.GetName()+"="+l.GetValue())
		}
		if strings.Join(labels, ",") == strings.Join(want, ",") {
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	t.Errorf("there is no %s %v: %v", name, want, families[name])
	return 0
}

func price(u item.RequestUsage) (float64, bool) {
	return float64(u.Usage.Output) / 1000, u.Model == "m"
}

// The recorder counts entries, and Prometheus reads the page as intended.
func TestRecorder(t *testing.T) {
	r := metrics.NewRecorder(price)
	usage := item.Usage{Input: 100, CachedInput: 40, Output: 10, Requests: 1}
	for _, kind := range []item.Kind{
		item.RequestUsage{Model: "m", Usage: usage, Measured: true},
		item.RequestUsage{Model: `a "b"\` + "\n", Usage: usage, Measured: true},
		item.RequestUsage{Model: "m", Usage: usage, Purpose: item.PurposeSubPod},
		item.ItemAdded{Item: item.ToolResult{Tool: "shell", DurationMS: 1500}},
		item.ItemAdded{Item: item.ToolResult{Tool: "shell", Output: item.Output{IsError: true}}},
		item.ItemAdded{Item: item.UserMessage{Text: "a secret"}},
		item.TurnEnded{Outcome: item.OutcomeFinished},
		item.TurnEnded{Outcome: item.OutcomeFinished},
		item.ApprovalRequested{}, item.ApprovalResolved{Approved: true}, item.Recovered{},
	} {
		r.Entry("p", item.Entry{Kind: kind})
	}
	r.Alert(item.Alert{Level: item.LevelWarn, Source: "turn", Text: "a secret"})
	got := parse(t, append(r.Samples(), metrics.Process(time.Unix(5, 0))...))
	for _, want := range []struct {
		value  float64
		name   string
		labels []string
	}{
		{2, "podd_turns_total", []string{"outcome=finished"}},
		{1, "podd_turns_recovered_total", nil},
		{100, "podd_tokens_total", []string{"model=m", "kind=input"}},
		{40, "podd_tokens_total", []string{"model=m", "kind=cached_input"}},
		{10, "podd_tokens_total", []string{`model=a "b"\` + "\n", "kind=output"}},
		{0.01, "podd_cost_usd_total", []string{"model=m"}},
		{1, "podd_tool_calls_total", []string{"tool=shell", "outcome=ok"}},
		{1, "podd_tool_calls_total", []string{"tool=shell", "outcome=error"}},
		{1.5, "podd_tool_seconds_total", []string{"tool=shell"}},
		{1, "podd_approvals_total", []string{"event=asked"}},
		{1, "podd_approvals_total", []string{"event=approved"}},
		{1, "podd_alerts_total", []string{"level=warn", "source=turn"}},
		{5, "process_start_time_seconds", nil},
	} {
		if v := value(t, got, want.name, want.labels...); v != want.value {
			t.Errorf("%s %v is %v, not %v", want.name, want.labels, v, want.value)
		}
	}
	if strings.Contains(fmt.Sprint(got), "secret") {
		t.Error("what was said is in the metrics")
	}
}

// The recorder follows the rules for hooks.
func TestConform(t *testing.T) { hooktest.Conform(t, metrics.NewRecorder(price)) }

// A model that calls tools by ever new names does not fill the memory.
func TestBounded(t *testing.T) {
	r := metrics.NewRecorder(price)
	for i := range 10_000 {
		r.Entry("p", item.Entry{Kind: item.ItemAdded{Item: item.ToolResult{Tool: fmt.Sprint("tool", i)}}})
	}
	got := parse(t, r.Samples())
	if n := len(got["podd_tool_calls_total"].GetMetric()); n > 300 {
		t.Errorf("%d series", n)
	}
	if v := value(t, got, "podd_tool_calls_total", "tool=other", "outcome=ok"); v < 9000 {
		t.Errorf("%v calls of others", v)
	}
}

// Whatever a model or a tool is called, the page is valid.
func FuzzWrite(f *testing.F) {
	f.Add("plain", "x")
	f.Add("\xff\"\\\n", "}{,=")
	f.Fuzz(func(t *testing.T, one, two string) {
		got := parse(t, []metrics.Sample{{Name: metrics.Pods, Labels: metrics.Labels{Name1: "state", Value1: one, Name2: "b", Value2: two}, Value: 1.5}})
		want := []string{"state=" + strings.ToValidUTF8(one, "\uFFFD"), "b=" + strings.ToValidUTF8(two, "\uFFFD")}
		if v := value(t, got, metrics.Pods, want...); v != 1.5 {
			t.Errorf("%v", v)
		}
	})
}
