package imports_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"podd/internal/guard/secrets"
	"podd/internal/imports/sessions"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// noon is a time of a session.
var noon = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)

func user(record, text string) sessions.Item {
	return sessions.Item{Record: record, Time: noon, Item: item.UserMessage{Text: text}}
}

func answer(record, text string) sessions.Item {
	return sessions.Item{Record: record, Time: noon, Item: item.AssistantMessage{Text: text}}
}

func call(record, id, name, arguments string) sessions.Item {
	return sessions.Item{Record: record, Time: noon, Item: item.ToolCall{CallID: id, Name: name, Arguments: arguments}}
}

func result(record, id, content string) sessions.Item {
	return sessions.Item{Record: record, Time: noon, Item: item.ToolResult{CallID: id, Output: item.Output{Content: content}}}
}

func summary(record, text, keeps string) sessions.Item {
	return sessions.Item{Record: record, Time: noon, Keeps: keeps, Item: item.SystemMessage{Origin: item.OriginCompaction, Text: text}}
}

func session(items ...sessions.Item) *sessions.Session {
	return &sessions.Session{Agent: "claude", ID: "s1", File: "/home/me/s1.jsonl", Title: "Mend the pump, über-quickly!", Items: items}
}

// imported imports a session, and returns the log in words.
func (h *house) imported(s *sessions.Session) (resp *poddv1.ImportSessionResponse, log string) {
	h.t.Helper()
	resp, err := h.send(s, nil)
	check(h.t, err)
	return resp, text(h.log(resp.GetPod().GetId()))
}

// A session becomes a log as podd writes them, which says where each item is from; the pod goes on with each API, with all
// that was said and nothing billed.
func TestImport(t *testing.T) {
	items := []sessions.Item{
		user("u1", "why?"), answer("a1", "I look."), call("a2", "t1", "Read", `{"file_path":"a.go"}`), call("a3", "t2", "Bash", `{"command":"make all"}`),
		result("r2", "t2", strings.Repeat("line\n", 200)), result("r1", "t1", "package a"), user("u2", "[interrupted]"), answer("a4", "It stops."),
		user("u3", "mend it"), call("a5", "t3", "Edit", `{"file_path":"../../etc/passwd"}`),
	}
	items[6].Synthetic = true
	want := `wing session imported from claude: session s1, 4 messages, 3 tool calls (/home/me/s1.jsonl){"agent":"claude","session":"s1","file":"/home/me/s1.jsonl","dir":"DIR","digest":"DIGEST","items":10}
submitted import-u1 why?
turn started [import-u1]
wing records {"records":["u1","a1","a2","a3","r1","r2","u2","a4"],"time":"2026-02-01T12:00:00Z"}
user why? (0 images)
answer I look.
call t1 Read {"file_path":"a.go"}
call t2 Bash {"command":"make all"}
result t1 Read read [package a] [] a.go error=false (0 images)
result t2 Bash shell [Bash make all: 200 lines] [LINES]  error=false (0 images)
user [interrupted] (0 images)
answer It stops.
turn ended finished 2
submitted import-u3 mend it
turn started [import-u3]
wing records {"records":["u3","a5",""],"time":"2026-02-01T12:00:00Z"}
user mend it (0 images)
call t3 Edit {"file_path":"../../etc/passwd"}
result t3 Edit  [no result: the session has none of this call, which may have taken effect] []  error=true (0 images)
turn ended finished 1
`
	for _, api := range []string{"chat", "responses", "messages"} {
		t.Run(api, func(t *testing.T) {
			h := newHouse(t, api, nil)
			dir := ""
			resp, err := h.send(session(items...), func(s *poddv1.ImportedSession) { dir = s.Dir })
			check(t, err)
			if resp.GetMessages() != 4 || resp.GetCalls() != 3 || resp.GetResults() != 2 || resp.GetClosed() != 1 || resp.GetLeftOut() != 0 {
				t.Errorf("imported %v", resp)
			}
			p := resp.GetPod()
			if p.GetName() != "mend-the-pump-ber-quickly" || p.GetSpec().GetDir() != dir || p.GetTurn() != 2 || p.GetState() != poddv1.PodState_POD_STATE_IDLE {
				t.Errorf("the pod is %v", p)
			}
			got := text(h.log(p.GetId()))
			_, digest, _ := strings.Cut(got, `"digest":"`)
			got = strings.NewReplacer(dir, "DIR", digest[:32], "DIGEST", strings.Repeat("line\n", 200), "LINES").Replace(got)
			if got != want {
				t.Errorf("the log is\n%swant\n%s", got, want)
			}
			h.goesOn(p.GetId(), "go on")
			h.log(p.GetId())
			body := string(h.model.Requests()[0])
			for _, said := range []string{"why?", "I look.", "make all", "package a", "[interrupted]", "It stops.", "mend it", "no result: ", "go on"} {
				if !strings.Contains(body, said) {
					t.Errorf("the model is not told %q: %s", said, body)
				}
			}
			if u := h.usage(p.GetId()); u.Requests != 1 {
				t.Errorf("the pod was billed %+v", u)
			}
		})
	}
}

// usage is what a pod was billed.
func (h *house) usage(id string) item.Usage {
	p, err := h.host.Get(h.t.Context(), id)
	check(h.t, err)
	return p.Status.Usage
}

// A session is imported once, also when its pod has another name, goes on or was deleted; one that has grown is refused, unless
// the person names another pod. A pod's name gets a number where another has it.
func TestImportTwice(t *testing.T) {
	h := newHouse(t, "chat", nil)
	s := session(user("u1", "why?"), answer("a1", "So."))
	first, err := h.send(s, nil)
	check(t, err)
	id := first.GetPod().GetId()
	_, err = h.host.Rename(t.Context(), id, "pump")
	check(t, err)
	h.goesOn(id, "go on")
	again, err := h.send(s, nil)
	if err != nil || !again.GetKnown() || again.GetPod().GetName() != "pump" {
		t.Errorf("again: %v, %v", again, err)
	}
	other := *s
	other.ID = "s2"
	if second, err := h.send(&other, nil); err != nil || second.GetPod().GetName() != "mend-the-pump-ber-quickly" {
		t.Errorf("another session: %v, %v", second, err)
	}
	other.ID = "s3"
	if third, err := h.send(&other, nil); err != nil || third.GetPod().GetName() != "mend-the-pump-ber-quickly-2" {
		t.Errorf("a third session: %v, %v", third, err)
	}
	s.Items = append(s.Items, user("u2", "more"))
	if _, err := h.send(s, nil); item.ReasonOf(err) != "SESSION_CHANGED" || !strings.Contains(err.Error(), "as pod pump with 2 items and has 3 now") {
		t.Errorf("grown: %v", err)
	}
	as := func(to *poddv1.ImportedSession) { to.Name = "grown" }
	for _, known := range []bool{false, true} {
		if grown, err := h.send(s, as); err != nil || grown.GetKnown() != known || grown.GetPod().GetName() != "grown" {
			t.Errorf("under a name: %v, %v", grown, err)
		}
	}
	if _, err := h.send(&other, as); item.ReasonOf(err) != "POD_EXISTS" {
		t.Errorf("under the name of another: %v", err)
	}
	check(t, h.store.TrashPods(t.Context(), []string{h.id("grown")}, time.Now()))
	if _, err := h.send(s, as); item.ReasonOf(err) != "SESSION_DELETED" || !strings.Contains(err.Error(), "podctl restore grown") {
		t.Errorf("deleted: %v", err)
	}
}

func (h *house) id(name string) string {
	p, err := h.store.Pod(h.t.Context(), name)
	check(h.t, err)
	return p.ID
}

// A summary replaces what came before it in requests, and the log has all of it. Whole turns that the agent kept stay.
func TestSummaries(t *testing.T) {
	h := newHouse(t, "chat", nil)
	s := session(user("u1", "apples"), answer("a1", "One."), user("u2", "pears"), call("a2", "t", "x", "{}"), answer("a3", "Two."),
		summary("c", "They counted apples.", "a3"), answer("a4", "Three."), user("u4", "plums"))
	resp, log := h.imported(s)
	if !strings.Contains(log, "compaction up to 6 {compaction  They counted apples. <nil>}\nturn started []\n") {
		t.Errorf("the log is\n%s", log)
	}
	h.goesOn(resp.GetPod().GetId(), "go on")
	body := string(h.model.Requests()[0])
	if strings.Contains(body, "One.") || !strings.Contains(body, "pears") || !strings.Contains(body, "They counted apples.") || !strings.Contains(body, "plums") {
		t.Errorf("the model is sent %s", body)
	}
	// One before anything else is only said.
	s = session(summary("c", "They counted.", ""), user("u", "go"))
	s.ID = "s2"
	if _, log := h.imported(s); !strings.Contains(log, "user They counted. (0 images)") || strings.Contains(log, "compaction up to") {
		t.Errorf("the log is\n%s", log)
	}
}

// Secrets are in no text, argument, name or place; what is no picture is left out with a word, and pictures come along.
func TestSecretsAndPictures(t *testing.T) {
	h := newHouse(t, "chat", secrets.New())
	const key = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-abcdefghijklmnopqr-AAAAAAAA"
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODkw\n", 8) + "-----END RSA PRIVATE KEY-----"
	dot, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	check(t, err)
	s := session(user("u "+key, "use "+key), call("a", "t1", "Bash", fmt.Sprintf(`{"command":%q,"n":12345678901234567890}`, "echo "+pem)),
		result("r", "t1", "token "+key+"\n"+strings.Repeat("x\n", 300)), answer("b", "It is "+key+"\x1b[2J"))
	s.File, s.Title = "/home/"+key+".jsonl\x1b[2J", key
	s.Items[0].Images = [][]byte{dot, []byte("GIF nothing")}
	s.Items[2].Images = [][]byte{dot}
	resp, log := h.imported(s)
	if strings.Contains(log, "abcdefghijklmnop") || strings.Contains(log, "QUJDREVGR0") || !strings.Contains(log, "12345678901234567890") {
		t.Errorf("the log is\n%s", log)
	}
	if strings.Contains(log[:strings.Index(log, "\n")], "\x1b") {
		t.Errorf("the first line is %q", log[:strings.Index(log, "\n")])
	}
	if !strings.Contains(log, "[image 1x1, ") || !strings.Contains(log, "[an image was left out: ") || strings.Count(log, "(1 images)") != 2 || resp.GetLeftOut() != 1 {
		t.Errorf("the log is\n%s", log)
	}
	h.goesOn(resp.GetPod().GetId(), "go on")
}

// What no agent writes makes a valid log too: ids that are used twice, too long or missing, results without a call or before
// it, names and arguments of any form; or it is refused, and nothing is there.
func TestHostileSessions(t *testing.T) {
	h := newHouse(t, "responses", nil)
	long := strings.Repeat("i", 3000)
	s := session(result("r0", "none", "x"), call("a", long, "näme with spaces", "{not json"), call("a", "", "", ""), call("a", "", "x", "[]"), result("a", "", "second"),
		user("u", "same"), user("u", "same"), answer("a", "y"), call("z", "t", "x", "{}"), user("u", "mid"), result("q", "t", "late"), result("q", "t", "twice"),
		call("p", "up", "Read", `{"path":"a/../../../etc/passwd"}`), result("p", "up", "root"), call("p", "abs", "Read", `{"path":"/etc/passwd"}`), result("p", "abs", "root"),
		summary("c", "so", "u"), summary("c", "again", "a"), user(strings.Repeat("ü", 500), "end"))
	resp, log := h.imported(s)
	if resp.GetCalls() != 6 || resp.GetResults() != 4 || resp.GetClosed() != 2 || resp.GetLeftOut() != 2 {
		t.Errorf("imported %v:\n%s", resp, log)
	}
	if strings.Contains(log, "passwd error=") {
		t.Errorf("a result has a path outside of the workspace:\n%s", log)
	}
	h.goesOn(resp.GetPod().GetId(), "go on")
	h.log(resp.GetPod().GetId())

	for reason, change := range map[string]func(*poddv1.ImportedSession){
		"NO_SESSION": func(s *poddv1.ImportedSession) { s.Id = "" },
		"BAD_NAME":   func(s *poddv1.ImportedSession) { s.Id, s.Name = "b", "No Name" },
		"BAD_DIR":    func(s *poddv1.ImportedSession) { s.Id, s.Dir = "c", s.Dir+"/none" },
	} {
		if _, err := h.send(s, change); item.ReasonOf(err) != reason {
			t.Errorf("%v, want %s", err, reason)
		}
	}
	if _, err := h.send(session(), func(s *poddv1.ImportedSession) { s.Id = "d" }); item.ReasonOf(err) != "EMPTY_SESSION" {
		t.Errorf("an empty session: %v", err)
	}
	if pods, err := h.store.Pods(t.Context()); err != nil || len(pods) != 1 {
		t.Errorf("there are %d pods, %v", len(pods), err)
	}
	here := t.TempDir()
	moved, err := h.send(s, func(s *poddv1.ImportedSession) { s.Id, s.Dir, s.ElseDir = "e", s.Dir+"/none", here })
	if err != nil || moved.GetPod().GetSpec().GetDir() != here {
		t.Errorf("a session of a directory that is gone: %v, %v", moved, err)
	}
}
