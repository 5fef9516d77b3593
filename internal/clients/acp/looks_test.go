package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coder/acp-go-sdk"

	"podd/pkg/item"
)

func TestLooks(t *testing.T) {
	tests := []struct {
		tool, arguments, title string
		kind                   acp.ToolKind
		// content is a part of the content's JSON.
		content string
	}{
		{"read_file", `{"path":"a.go","start_line":3,"end_line":9}`, "read_file a.go:3-9", "read", "null"},
		{"search", `{"pattern":"x","path":"pkg"}`, `search "x" in pkg`, "search", "null"},
		{"glob", `{"pattern":"*.go"}`, `glob "*.go"`, "search", "null"},
		{"shell", "{\"command\":\"ls \u202e\"}", "shell `ls \\u202e`", "execute", `$ ls \\u202e`},
		{"write_file", `{"path":"/x/a","content":"n"}`, "write_file /x/a", "edit", "null"},
		{"mcp_x", `{"path":`, "mcp_x", "other", "null"},
		{"shell", `[1]`, "shell", "execute", "$ "},
	}
	for _, tt := range tests {
		l := looksOf(tt.tool, tt.arguments, "/w")
		content, err := json.Marshal(l.content)
		if err != nil || l.title != tt.title || l.kind != tt.kind || !strings.Contains(string(content), tt.content) {
			t.Errorf("%s looks like %q, %q, %s (%v)", tt.tool, l.title, l.kind, content, err)
		}
		if _, err := json.Marshal(l.input); err != nil {
			t.Errorf("the input of %s: %v", tt.tool, err)
		}
	}
	if got := looksOf("shell", `{"command":"`+strings.Repeat("é", 500)+`"}`, "/w").title; len([]rune(got)) != mostTitle {
		t.Errorf("a title of %d characters", len([]rune(got)))
	}
}

func TestDiffContent(t *testing.T) {
	for diff, want := range map[string]string{
		"@@ -0,0 +1 @@\n+new\n":                               `{"newText":"new\n","path":"/w/a","type":"diff"}`,
		"@@ -1,2 +1,2 @@\n k\n-o\n+n\n@@ -9 +9,2 @@\n+m\n":    `{"newText":"k\nn\n…\nm\n","oldText":"k\no\n…\n","path":"/w/a","type":"diff"}`,
		"@@ -1 +0,0 @@\n-o\n":                                 `{"newText":"","oldText":"o\n","path":"/w/a","type":"diff"}`,
		"@@ -1 +1 @@\n-o\n\\ No newline at end of file\n+n\n": `{"newText":"n\n","oldText":"o","path":"/w/a","type":"diff"}`,
		"@@ -1,2 +1,2 @@\n-o\n+n\n k\n\\ No newline\n":        `{"newText":"n\nk","oldText":"o\nk","path":"/w/a","type":"diff"}`,
	} {
		content, err := json.Marshal(diffContent("/w/a", diff))
		if err != nil || string(content) != want {
			t.Errorf("%q shows %s (%v), want %s", diff, content, err, want)
		}
	}
}

func TestStopReason(t *testing.T) {
	for _, tt := range []struct {
		outcome item.Outcome
		reason  string
		want    acp.StopReason
	}{
		{item.OutcomeFinished, "", acp.StopReasonEndTurn},
		{item.OutcomeCancelled, "CANCELLED", acp.StopReasonCancelled},
		{item.OutcomeLimit, "MAX_TOKENS", acp.StopReasonMaxTokens},
		{item.OutcomeLimit, "TOTAL_TOKENS", acp.StopReasonMaxTokens},
		{item.OutcomeLimit, "MAX_STEPS", acp.StopReasonMaxTurnRequests},
		{item.OutcomeLimit, "LOOP", acp.StopReasonMaxTurnRequests},
		{item.OutcomeLimit, "MAX_COST", ""},
		{item.OutcomeLimit, "MAX_TURN_TIME", ""},
		{item.OutcomeFailed, "CONTENT_FILTER", acp.StopReasonRefusal},
		{item.OutcomeFailed, "NO_API_KEY", ""},
		{item.OutcomeInterrupted, "RECOVERY", ""},
	} {
		got, err := stopReason(3, item.TurnEnded{Outcome: tt.outcome, Reason: tt.reason, Cause: "why"})
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s %s is %q, %v", tt.outcome, tt.reason, got, err)
		}
		if err != nil && (item.ReasonOf(err) != tt.reason || !strings.Contains(err.Error(), "why")) {
			t.Errorf("%s %s is %v", tt.outcome, tt.reason, err)
		}
	}
}
