package pod_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/internal/report"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// isSummary says whether a request is for the summary of an output.
func isSummary(r scripted.Request) bool { return strings.HasPrefix(r.LastUser(), "Call: ") }

// summarizing calls a tool once, and answers requests for a summary with reply.
func summarizing(call scripted.Call, reply scripted.Reply) scripted.Handler {
	return func(_ context.Context, r scripted.Request) scripted.Reply {
		switch {
		case isSummary(r):
			return reply
		case r.Steps()%2 == 1:
			return scripted.Say(scripted.Text("done"))
		}
		return scripted.Say(call)
	}
}

// summarizeAll turns summaries on for every tool.
func summarizeAll(t *testing.T) func(*options) {
	limits, err := tool.NewLimits(tool.LimitsConfig{Default: tool.Limit{Strategy: tool.StrategySummarize}})
	if err != nil {
		t.Fatal(err)
	}
	return func(c *options) {
		c.Tools = []tool.Tool{long()}
		c.ToolOutput = limits
		c.Summarize = worker.Summarize{Enabled: true, Model: item.ModelRef{Model: "cheap"}}
	}
}

// summaries are the records of the requests for a summary.
func summaries(entries []item.Entry) []item.RequestUsage {
	var out []item.RequestUsage
	for _, e := range entries {
		if u, ok := e.Kind.(item.RequestUsage); ok && u.Purpose == item.PurposeSummarize {
			out = append(out, u)
		}
	}
	return out
}

var (
	callLong = scripted.Call{Name: "long", Arguments: `{}`}
	said     = scripted.Say(scripted.Text("Lines 1 to 3000, each with its number."))
)

// A summary replaces the output in the log and in the requests, is marked as one, and
// names the file with all of the text; a restart changes nothing.
func TestSummarizedOutput(t *testing.T) {
	h := newHouse(t, summarizing(callLong, said), summarizeAll(t))
	end := h.run("go")
	log := h.log()
	r := results(log)[0]
	full := longText()
	marker := fmt.Sprintf("[summarized by cheap from %d bytes, 3000 lines; the full text is in ", len(full))
	if r.Cut == nil || r.Content != marker+r.Cut.SpoolPath+" (read_file or search it)]\nLines 1 to 3000, each with its number." {
		t.Fatalf("cut %+v\n%s", r.Cut, r.Content)
	}
	if want := (item.Cut{TotalBytes: int64(len(full)), TotalLines: 3000, KeptBytes: 38, KeptLines: 1, SpoolPath: r.Cut.SpoolPath}); *r.Cut != want {
		t.Errorf("cut %+v, want %+v", *r.Cut, want)
	}
	if !r.Summarized || r.OriginalBytes() != int64(len(full)) {
		t.Errorf("summarized %v from %d bytes", r.Summarized, r.OriginalBytes())
	}
	if kept, err := os.ReadFile(r.Cut.SpoolPath); err != nil || string(kept) != full {
		t.Errorf("the spool file has %d bytes, %v", len(kept), err)
	}
	requests := h.model.Requests()
	if len(requests) != 3 || !bytes.Contains(requests[1], []byte(`"model":"cheap"`)) || !bytes.Contains(requests[1], []byte("line 1500")) ||
		bytes.Contains(requests[1], []byte(`"tools"`)) {
		t.Fatalf("%d requests, the second is %.300s", len(requests), requests[1])
	}
	if !bytes.Contains(requests[2], []byte("Lines 1 to 3000")) || !bytes.HasPrefix(requests[2], bytes.TrimRight(requests[0], "]}")) {
		t.Errorf("the last request is %.2000s", requests[2])
	}
	// Every request is on the bill, including that for the summary.
	var sum item.Usage
	for _, e := range log {
		if u, ok := e.Kind.(item.RequestUsage); ok {
			sum = sum.Add(u.Usage)
		}
	}
	st, err := report.Count(t.Context(), h.host, "p")
	if s := summaries(log); len(s) != 1 || s[0].Usage.Input == 0 || s[0].RequestBytes != int64(len(requests[1])) || s[0].Step != 1 || sum != end.Usage || err != nil || st.Usage != sum {
		t.Errorf("summaries %+v; %+v in entries, %+v in the turn, stats %+v, %v", s, sum, end.Usage, st.Usage, err)
	}
	before, err := h.host.Context(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	h.restart()
	after, err := h.host.Context(t.Context(), "p")
	if err != nil || !bytes.Equal(before.Body, after.Body) || len(h.model.Requests()) != 3 {
		t.Errorf("the context changed with a restart: %v", err)
	}
}

// For a command's output, which its tool has cut, the model gets the text from the spool,
// up to the limit; errors are not summarised.
func TestSummarizedCommand(t *testing.T) {
	for _, c := range []struct {
		command string
		most    int
		want    []string
		marker  string
	}{
		{"seq 1 8000", 0, []string{"Call: shell ", "\\n4000\\n", "\\n8000\\n"}, "from 38893 bytes, 8000 lines; the full text"},
		{"seq 1 8000", 4096, []string{"\\n1\\n", "[cut: ", "\\n8000\\n"}, "; it read 39"},
		// The file has a line before the output, which must not cost any of the output.
		{"seq 1 8000", 38893, []string{"\\n1\\n", "\\n8000\\n"}, "from 38893 bytes"},
		{"seq 1 8000; exit 3", 0, nil, "[cut: "},
	} {
		h := newHouse(t, summarizing(shell(c.command), said), summarizeAll(t), func(pc *options) { pc.Summarize.MaxInputBytes = c.most })
		h.run("go")
		r := results(h.log())[0]
		if !strings.Contains(r.Content, c.marker) || r.Cut == nil || r.Cut.SpoolPath == "" {
			t.Errorf("%s: cut %+v\n%.300s", c.command, r.Cut, r.Content)
		}
		requests := h.model.Requests()
		if (len(requests) == 3) != (c.want != nil) {
			t.Errorf("%s: %d requests", c.command, len(requests))
			continue
		}
		for _, want := range c.want {
			if !bytes.Contains(requests[1], []byte(want)) {
				t.Errorf("%s: %q is not in the request", c.command, want)
			}
		}
		if most := c.most; most > 0 && len(requests[1]) > most*5/4+3000 {
			t.Errorf("%s: the request has %d bytes", c.command, len(requests[1]))
		}
	}
}

// After any error the output is cut as by head_tail and kept once, with one log line for
// the operator.
func TestSummaryThatFails(t *testing.T) {
	never := make(chan struct{})
	for name, reply := range map[string]scripted.Reply{
		"refused": scripted.Fail(503, "overloaded", "try later", 0),
		"empty":   scripted.Say(scripted.Text("  ")),
		"cut":     scripted.Say(scripted.Text("Lines"), scripted.Cut{}),
		"half":    {Parts: []scripted.Part{scripted.Text("Lines 1 to")}, Stop: "length"},
		"longer":  scripted.Say(scripted.Text(strings.Repeat("word ", 10_000))),
		"late":    scripted.Say(scripted.Text("Lines"), scripted.Wait(never)),
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer // Only the turn writes it; the test reads it afterwards.
			h := newHouse(t, summarizing(callLong, reply), summarizeAll(t), func(c *options) {
				c.Logger = slog.New(slog.NewTextHandler(&log, nil))
				if name == "late" {
					c.Summarize.Timeout = time.Millisecond
				}
			})
			if end := h.run("go"); end.Outcome != item.OutcomeFinished {
				t.Fatalf("end %+v", end)
			}
			r := results(h.log())[0]
			if name == "longer" {
				// The summary's own limit is that of the output.
				if len(r.Content) > 16<<10 || !strings.HasSuffix(r.Content, "[the rest of the summary was left out]") {
					t.Errorf("%d bytes: %s", len(r.Content), r.Content[len(r.Content)-100:])
				}
				return
			}
			if !strings.HasPrefix(r.Content, "line 1\n") || !strings.HasSuffix(r.Content, "line 3000\n") || !strings.Contains(r.Content, "full text in "+r.Cut.SpoolPath) {
				t.Errorf("cut %+v\n%.200s", r.Cut, r.Content)
			}
			billed := 0
			if name == "empty" || name == "half" {
				billed = 1
			}
			if s := summaries(h.log()); len(s) != billed {
				t.Errorf("summaries on the bill: %+v", s)
			}
			h.close()
			defer h.open()
			if n := strings.Count(log.String(), `msg="tool output not summarized"`); n != 1 {
				t.Errorf("%d lines in\n%s", n, log.String())
			}
			if files, err := os.ReadDir(r.Cut.SpoolPath[:strings.LastIndexByte(r.Cut.SpoolPath, '/')]); err != nil || len(files) != 1 {
				t.Errorf("files %v, %v", files, err)
			}
		})
	}
}

// Without the setting nothing is summarised, and the model gets no additional request.
func TestNotSummarized(t *testing.T) {
	for name, change := range map[string]func(*options){
		"disabled":          func(c *options) { c.Summarize.Enabled = false },
		"below the trigger": func(c *options) { c.Summarize.TriggerBytes = len(longText()) },
		"another tool":      func(c *options) { c.Summarize.Tools = []string{"search"} },
		"another strategy":  func(c *options) { c.ToolOutput = nil },
		"within the limit": func(c *options) {
			var err error
			c.ToolOutput, err = tool.NewLimits(tool.LimitsConfig{Default: tool.Limit{MaxBytes: 60_000, MaxLines: 4000, Strategy: tool.StrategySummarize}})
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		h := newHouse(t, summarizing(callLong, said), summarizeAll(t), change)
		h.run("go")
		r := results(h.log())[0]
		if cut := name != "within the limit"; len(h.model.Requests()) != 2 || strings.Contains(r.Content, "summarized") || strings.Contains(r.Content, "[cut: ") != cut {
			t.Errorf("%s: %d requests, %.300s", name, len(h.model.Requests()), r.Content)
		}
	}
}

// A cancelled turn does not wait for a summary, and its result is stored.
func TestCancelledWhileSummarizing(t *testing.T) {
	asked, never := make(chan struct{}), make(chan struct{})
	inner := summarizing(callLong, scripted.Say(scripted.Wait(never)))
	h := newHouse(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
		if isSummary(r) {
			close(asked)
		}
		return inner(ctx, r)
	}, summarizeAll(t))
	s := h.submit("go")
	<-asked
	if _, _, err := h.host.Cancel(t.Context(), "p", "enough"); err != nil {
		t.Fatal(err)
	}
	if end := h.ended(s); end.Outcome != item.OutcomeCancelled {
		t.Errorf("end %+v", end)
	}
	if r := results(h.log()); len(r) != 1 || r[0].IsError || !strings.Contains(r[0].Content, "[cut: ") {
		t.Errorf("results %+v", r)
	}
}

// The record of a summary precedes its result, in the same step, even if several calls
// end at once.
func TestSummariesOfParallelCalls(t *testing.T) {
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		switch {
		case isSummary(r):
			return said
		case r.Steps() == 1:
			return scripted.Say(scripted.Text("done"))
		}
		return scripted.Say(callLong, callLong, callLong)
	}, summarizeAll(t), func(c *options) { c.Limits.MaxParallel = 1 })
	end := h.run("go")
	var kinds []string
	for _, e := range h.log() {
		switch k := e.Kind.(type) {
		case item.RequestUsage:
			kinds = append(kinds, "usage "+k.Purpose)
		case item.ItemAdded:
			if _, ok := k.Item.(item.ToolResult); ok {
				kinds = append(kinds, "result")
			}
		}
	}
	pair := []string{"usage summarize", "result"}
	want := slices.Concat([]string{"usage "}, pair, pair, pair, []string{"usage "})
	if !slices.Equal(kinds, want) || end.Usage.Requests != 5 {
		t.Errorf("%q, %d requests", kinds, end.Usage.Requests)
	}
}

// A map of everything is summarised. If that fails, the map of what matters most stays
// whole. A small map stays too.
func TestSummarizedMap(t *testing.T) {
	for _, c := range []struct {
		arguments string
		reply     scripted.Reply
		want      string
	}{
		{`{}`, said, "[summarized by cheap from "},
		{`{"max_tokens":1000000}`, said, "[summarized by cheap from "},
		{`{}`, scripted.Say(scripted.Text(" ")), "a.go:\n"},
		{`{"max_tokens":100}`, said, "a.go:\n"},
	} {
		h := newHouse(t, summarizing(scripted.Call{Name: "repo_map", Arguments: c.arguments}, c.reply), summarizeAll(t))
		var source strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&source, "func Function%04d(argument string) error { return nil }\n", i)
		}
		h.write("a.go", "package a\n"+source.String())
		h.run("go")
		r := results(h.log())[0]
		if summarized := strings.HasPrefix(c.want, "["); !strings.HasPrefix(r.Content, c.want) || r.Summarized != summarized || r.IsError {
			t.Errorf("%s: summarized %v, %q\n%.200s", c.arguments, r.Summarized, r.Summary, r.Content)
		}
		if r.Summarized && (!strings.Contains(string(h.model.Requests()[1]), "Function0999") || r.OriginalBytes() < 40_000) {
			t.Errorf("%s: of %d bytes the model is given %.3000s", c.arguments, r.OriginalBytes(), h.model.Requests()[1])
		}
		if !r.Summarized && (strings.Contains(r.Content, "[cut:") || len(r.Content) > 10_000) {
			t.Errorf("%s: %d bytes: %.300s", c.arguments, len(r.Content), r.Content)
		}
	}
}
