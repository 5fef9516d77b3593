package sessions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/imports/sessions"
	"podd/pkg/item"
)

// dot is a picture of one pixel, as base64.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// The sessions are made up, in the forms that the agents write.
var written = map[string]string{
	// Two calls at once, whose results are branches; a prompt that was taken back; a sub-agent; a start again in the middle; a
	// summary; a prompt that joined; an error of the API; a last line that is cut.
	"claude": `{"type":"summary","summary":"Mend the pump","leafUuid":"x"}
{"type":"progress","uuid":"p0","parentUuid":null,"cwd":"/work/pump","sessionId":"s1","timestamp":"2026-02-01T10:00:00.000Z"}
{"type":"user","uuid":"u1","parentUuid":"p0","timestamp":"2026-02-01T10:00:01.000Z","message":{"role":"user","content":"why does the pump stop?"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m1","role":"assistant","model":"c","content":[{"type":"thinking","thinking":"hm","signature":"x"}]}}
{"type":"assistant","uuid":"a2","parentUuid":"a1","message":{"id":"m1","role":"assistant","model":"c","content":[{"type":"text","text":"I look."}]}}
{"type":"assistant","uuid":"a3","parentUuid":"a2","message":{"id":"m1","role":"assistant","model":"c","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/work/pump/a.go"}}]}}
{"type":"assistant","uuid":"a4","parentUuid":"a3","message":{"id":"m1","role":"assistant","model":"c","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"make"}}]}}
{"type":"user","uuid":"r1","parentUuid":"a3","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"package a"}]},"toolUseResult":{"big":true}}
{"type":"user","uuid":"r2","parentUuid":"a4","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"no rule"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"DOT"}}]}]}}
{"type":"user","uuid":"side1","parentUuid":null,"isSidechain":true,"message":{"role":"user","content":"sub-agent"}}
{"type":"user","uuid":"old","parentUuid":"r2","message":{"role":"user","content":"taken back"}}
{"type":"user","uuid":"u2","parentUuid":"r2","isMeta":true,"message":{"role":"user","content":"<reminder>"}}
{"type":"attachment","uuid":"q1","parentUuid":"u2","attachment":{"type":"queued_command","prompt":"be quick"}}
{"type":"progress","uuid":"p1","parentUuid":null}
{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"logicalParentUuid":"q1"}
{"type":"user","uuid":"c1","parentUuid":"b1","isCompactSummary":true,"message":{"role":"user","content":"The pump lacks a rule."}}
{"type":"assistant","uuid":"e1","parentUuid":"c1","isApiErrorMessage":true,"message":{"id":"m2","model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"API Error"}]}}
{"type":"user","uuid":"u3","parentUuid":"p9","message":{"role":"user","content":[{"type":"text","text":"add it"},{"type":"document","source":{}}]}}
{"type":"assistant","uuid":"a5","parentUuid":"u3","message":{"id":"m3","role":"assistant","model":"c","content":[{"type":"text","text":"Ad`,
	// The forms of outputs; what podd says itself; a turn that was taken back; a summary that is not there.
	"codex": `{"timestamp":"2026-03-01T08:00:00.000Z","type":"session_meta","payload":{"id":"01890000-0000-7000-8000-000000000001","cwd":"/work/pump","source":"cli"}}
{"timestamp":"2026-03-01T08:00:00.000Z","type":"session_meta","payload":{"id":"other","cwd":"/other","source":{"subagent":"review"}}}
{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"<permissions>"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /work"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"mend\nthe pump"},{"type":"input_image","image_url":"data:image/png;base64,DOT"}]}}
{"type":"event_msg","payload":{"type":"user_message","message":"mend\nthe pump"}}
{"type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"zzz"}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"a.go\\n\",\"metadata\":{\"exit_code\":2}}"}}
{"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"c2"}}
{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":"Done"}}
{"type":"response_item","payload":{"type":"function_call","name":"view_image","arguments":"{}","call_id":"c3"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c3","output":[{"type":"input_text","text":"a dot"},{"type":"input_image","image_url":"data:image/png;base64,DOT"}]}}
{"type":"response_item","payload":{"type":"tool_search_call","call_id":"c4","arguments":{"query":"x"}}}
{"type":"response_item","payload":{"type":"tool_search_output","call_id":"c4","tools":[{"name":"y"}]}}
{"type":"response_item","payload":{"type":"web_search_call","action":{"query":"z"}}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"no, not that"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Oh."}]}}
{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}
{"type":"compacted","payload":{"message":"","replacement_history":[]}}
{"type":"response_item","payload":{"type":"local_shell_call","call_id":"c5","action":{"command":["pwd"]}}}
`,
	"pi": `{"type":"session","version":3,"id":"pi-1","timestamp":"2026-04-01T08:00:00.000Z","cwd":"/work/pump"}
{"type":"model_change","id":"m","parentId":null,"modelId":"x"}
{"type":"message","id":"1","parentId":"m","timestamp":"2026-04-01T08:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","data":"DOT","mimeType":"image/png"}]}}
{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look."},{"type":"toolCall","id":"c|1","name":"read","arguments":{"path":"a.go"}}]}}
{"type":"message","id":"3","parentId":"2","message":{"role":"toolResult","toolCallId":"c|1","toolName":"read","content":[{"type":"text","text":"package a"}],"isError":false}}
{"type":"message","id":"lost","parentId":"3","message":{"role":"user","content":"another branch"}}
{"type":"custom_message","id":"4","parentId":"3","customType":"x","content":"a remark","display":true}
{"type":"message","id":"5","parentId":"4","message":{"role":"bashExecution","command":"ls","output":"a.go","exitCode":0}}
{"type":"compaction","id":"6","parentId":"5","summary":"They looked.","firstKeptEntryId":"4"}
{"type":"session_info","id":"7","parentId":"6","name":"The pump"}
{"type":"branch_summary","id":"8","parentId":"7","summary":"The other way failed."}
`,
	"opencode": `{"info":{"id":"ses_1","directory":"/work/pump","title":"The pump","revert":{"messageID":"m4"}},"messages":[
{"info":{"id":"m1","role":"user","time":{"created":1780000000000}},"parts":[{"id":"p1","type":"text","text":"look"},{"id":"p2","type":"text","synthetic":true,"text":"a file"},{"id":"p3","type":"file","mime":"image/png","url":"data:image/png;base64,DOT"}]},
{"info":{"id":"m2","role":"assistant","time":{"created":1780000001000}},"parts":[{"id":"p4","type":"step-start"},{"id":"p5","type":"reasoning","text":"hm"},{"id":"p6","type":"text","text":"I look."},
{"id":"p7","type":"tool","callID":"c1","tool":"read","state":{"status":"completed","input":{"filePath":"a.go"},"output":"package a","attachments":[{"url":"data:image/png;base64,DOT"}]}},
{"id":"p8","type":"tool","callID":"c2","tool":"bash","state":{"status":"error","input":{},"error":"killed"}},{"id":"p9","type":"tool","callID":"c3","tool":"bash","state":{"status":"running","input":{}}}]},
{"info":{"id":"m3","role":"assistant","summary":true},"parts":[{"id":"p10","type":"text","text":"They looked."}]},
{"info":{"id":"m4","role":"user"},"parts":[{"id":"p11","type":"text","text":"taken back"}]}]}`,
}

// file writes a session, and returns its path.
func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(content, "DOT", dot)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// described is a session in a few lines.
func described(s *sessions.Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %q sub=%t unread=%d messages=%d\n", s.ID, s.Dir, s.Title, s.Sub, s.Unread, s.Messages())
	for _, it := range s.Items {
		fmt.Fprintf(&b, "%s: ", it.Record)
		switch k := it.Item.(type) {
		case item.UserMessage:
			fmt.Fprintf(&b, "user %q", k.Text)
		case item.SystemMessage:
			fmt.Fprintf(&b, "summary %q keeps %q", k.Text, it.Keeps)
		case item.AssistantMessage:
			fmt.Fprintf(&b, "answer %q", k.Text)
		case item.ToolCall:
			fmt.Fprintf(&b, "call %s %s %s", k.CallID, k.Name, k.Arguments)
		case item.ToolResult:
			fmt.Fprintf(&b, "result %s %q error=%t", k.CallID, k.Content, k.IsError)
		}
		if it.Synthetic {
			b.WriteString(" synthetic")
		}
		if it.Joined {
			b.WriteString(" joined")
		}
		if len(it.Images) > 0 {
			fmt.Fprintf(&b, " %d images", len(it.Images))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestRead(t *testing.T) {
	for agent, want := range map[string]string{
		"claude": `s /work/pump "Mend the pump" sub=false unread=0 messages=4
u1: user "why does the pump stop?"
a2: answer "I look."
a3: call t1 Read {"file_path":"/work/pump/a.go"}
a4: call t2 Bash {"command":"make"}
r1: result t1 "package a" error=false
r2: result t2 "no rule" error=true 1 images
u2: user "<reminder>" synthetic
q1: user "be quick" joined
c1: summary "The pump lacks a rule." keeps ""
u3: user "add it\n[document that was left out]"
`,
		"codex": `01890000-0000-7000-8000-000000000001 /work/pump "mend" sub=false unread=0 messages=2
line 5: user "mend\nthe pump" 1 images
line 8: call c1 shell {"command":["ls"]}
line 9: result c1 "a.go\n" error=true
line 10: call c2 apply_patch {"input":"*** Begin Patch"}
line 11: result c2 "Done" error=false
line 12: call c3 view_image {}
line 13: result c3 "a dot" error=false 1 images
line 14: call c4 tool_search {"query":"x"}
line 15: result c4 "[{\"name\":\"y\"}]" error=false
line 17: answer "Done."
line 22: call c5 local_shell {"command":["pwd"]}
`,
		"pi": `pi-1 /work/pump "The pump" sub=false unread=0 messages=2
1: user "look" 1 images
2: answer "I look."
2: call c|1 read {"path":"a.go"}
3: result c|1 "package a" error=false
4: user "a remark" synthetic
5: user "Ran ls\na.go" synthetic
6: summary "They looked." keeps "4"
8: user "The other way failed." synthetic
`,
		"opencode": `ses_1 /work/pump "The pump" sub=false unread=0 messages=2
m1: user "look" 1 images
p2: user "a file" synthetic
p6: answer "I look."
p7: call c1 read {"filePath":"a.go"}
p7: result c1 "package a" error=false 1 images
p8: call c2 bash {}
p8: result c2 "killed" error=true
p9: call c3 bash {}
p10: summary "They looked." keeps ""
`,
	} {
		s, err := sessions.Read(agent, file(t, "s.jsonl", written[agent]))
		if err != nil {
			t.Errorf("%s: %v", agent, err)
			continue
		}
		if got := described(s); got != want {
			t.Errorf("%s reads as\n%swant\n%s", agent, got, want)
		}
	}
}

// A file that is no session, is no file, is cut or is hostile is one sentence.
func TestBadFiles(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	for _, c := range []struct{ agent, content, want string }{
		{"claude", "", "has no message of a session of claude"},
		{"claude", "no\nJSON\n", "has no message of a session of claude"},
		{"claude", `{"type":"user","uuid":"u","message":{"content":` + deep + "}}\n", "has no message"},
		{"claude", written["codex"], "has no message of a session of claude"},
		{"codex", written["claude"], "has no message of a session of codex"},
		{"pi", "\x00\x01\x02", "has no message of a session of pi"},
		{"opencode", written["opencode"][:200], "is not what opencode export writes, or is cut"},
		{"opencode", `{"info":{"id":"../../etc","title":"x"}}`, "has no message of a session of opencode"},
	} {
		_, err := sessions.Read(c.agent, file(t, "s.jsonl", c.content))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %.20q: %v, want %s", c.agent, c.content, err, c.want)
		}
	}
	if _, err := sessions.Read("pi", t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := sessions.Read("pi", filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
	large := file(t, "large.jsonl", "")
	if err := os.Truncate(large, 1<<30); err != nil {
		t.Fatal(err)
	}
	if _, err := sessions.Read("pi", large); err == nil || !strings.Contains(err.Error(), "has 1024 MiB") {
		t.Errorf("a large file: %v", err)
	}
}

// A tree whose records are their own ancestors ends, and lines that are no JSON are counted.
func TestCycles(t *testing.T) {
	for agent, content := range map[string]string{
		"claude": `{"type":"user","uuid":"a","parentUuid":"b","message":{"content":"one"}}
broken
{"type":"user","uuid":"b","parentUuid":"a","message":{"content":"two"}}
`,
		"pi": `{"type":"message","id":"a","parentId":"b","message":{"role":"user","content":"one"}}
broken
{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"two"}}
`,
	} {
		s, err := sessions.Read(agent, file(t, "s.jsonl", content))
		if err != nil || len(s.Items) != 2 || s.Unread != 1 {
			t.Errorf("%s: %+v, %v", agent, s, err)
		}
	}
}

// Long texts and arguments are cut, and pictures that are too large left out.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("ü", 1<<20)
	s, err := sessions.Read("claude", file(t, "s.jsonl", `{"type":"user","uuid":"u","message":{"content":"`+long+`"}}
{"type":"assistant","uuid":"a","parentUuid":"u","message":{"content":[{"type":"tool_use","id":"t","name":"Write","input":{"content":"`+long+`"}}]}}
`))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := s.Items[0].Item.(item.UserMessage)
	if !strings.HasSuffix(m.Text, "ü\n[1048576 more bytes were left out]") {
		t.Errorf("the text ends in %q", m.Text[len(m.Text)-60:])
	}
	if c, _ := s.Items[1].Item.(item.ToolCall); c.Arguments != `{"left_out":"2097166 bytes"}` {
		t.Errorf("the arguments are %.80s", c.Arguments)
	}
}

// Sessions are found where the agents store them, the newest first.
func TestList(t *testing.T) {
	home := t.TempDir()
	env := func(name string) string {
		return map[string]string{"HOME": home, "CODEX_HOME": filepath.Join(home, "[c]")}[name]
	}
	for path, content := range map[string]string{
		".claude/projects/-work-pump/3f9c.jsonl":                                                         written["claude"],
		".claude/projects/-work-pump/agent-1.jsonl":                                                      written["claude"],
		"[c]/sessions/2026/03/01/rollout-2026-03-01T08-00-00-01890000-0000-7000-8000-000000000001.jsonl": written["codex"],
		".pi/agent/sessions/--work--/2026-04-01_pi-1.jsonl":                                              written["pi"],
	} {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for agent, id := range map[string]string{"claude": "3f9c", "codex": "01890000-0000-7000-8000-000000000001", "pi": "pi-1"} {
		found, err := sessions.List(t.Context(), agent, env)
		if err != nil || len(found) != 1 || found[0].ID != id || found[0].Dir() != "/work/pump" {
			t.Errorf("%s has %+v, %v", agent, found, err)
		}
	}
}

func fuzz(f *testing.F, agent string) {
	for _, content := range written {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := sessions.Read(agent, file(t, "s.jsonl", string(content)))
		if err == nil && (len(s.Items) == 0 || s.Agent != agent) || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

func FuzzClaude(f *testing.F)   { fuzz(f, "claude") }
func FuzzCodex(f *testing.F)    { fuzz(f, "codex") }
func FuzzOpencode(f *testing.F) { fuzz(f, "opencode") }
func FuzzPi(f *testing.F)       { fuzz(f, "pi") }
