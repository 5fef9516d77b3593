package metrics

import (
	"bufio"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sample is the value of one series.
type Sample struct {
	Name   string
	Labels Labels
	Value  float64
}

// Labels are the labels of a series: up to two names, each with its value. An empty name
// means no label.
type Labels struct {
	Name1, Value1, Name2, Value2 string
}

// ContentType is the content type of a page.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Write writes samples in the Prometheus text format: families in their order, series in
// the order of their labels. A sample of an unknown family is left out.
func Write(w io.Writer, samples []Sample) error {
	byName := make(map[string][]Sample)
	for _, s := range samples {
		byName[s.Name] = append(byName[s.Name], s)
	}
	b := bufio.NewWriter(w)
	for _, f := range families {
		series := byName[f.name]
		if len(series) == 0 {
			continue
		}
		slices.SortFunc(series, func(a, b Sample) int { return strings.Compare(a.Labels.String(), b.Labels.String()) })
		_, _ = b.WriteString("# HELP " + f.name + " " + f.help + "\n# TYPE " + f.name + " " + f.kind + "\n")
		for _, s := range series {
			_, _ = b.WriteString(s.Name + s.Labels.String() + " " + strconv.FormatFloat(s.Value, 'g', -1, 64) + "\n")
		}
	}
	return b.Flush()
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// String is the labels in the page's format.
func (l Labels) String() string {
	var parts []string
	for _, p := range [][2]string{{l.Name1, l.Value1}, {l.Name2, l.Value2}} {
		if p[0] != "" {
			parts = append(parts, p[0]+`="`+escape.Replace(strings.ToValidUTF8(p[1], "\uFFFD"))+`"`)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// Label is one label.
func Label(name, value string) Labels { return Labels{Name1: name, Value1: value} }

// Process returns the samples of this process, named as in Prometheus' Go collector.
func Process(started time.Time) []Sample {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return []Sample{
		{Name: "go_goroutines", Value: float64(runtime.NumGoroutine())},
		{Name: "go_gc_cycles_total", Value: float64(m.NumGC)},
		{Name: "go_memstats_alloc_bytes", Value: float64(m.Alloc)},
		{Name: "go_memstats_sys_bytes", Value: float64(m.Sys)},
		{Name: "go_info", Labels: Label("version", runtime.Version()), Value: 1},
		{Name: "process_start_time_seconds", Value: float64(started.UnixMilli()) / 1000},
	}
}
