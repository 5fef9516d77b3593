package attach

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/internal/clients/desk"
	"podd/internal/clients/view"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

var update = flag.Bool("update", false, "rewrite the golden screens")

const todoArguments = `{"items":[{"text":"read the test","status":"done"},{"text":"run it","status":"done"},{"text":"find the cause","status":"in_progress"},
	{"text":"mend it","status":"pending"},{"text":"run all tests","status":"pending"},{"text":"write it down","status":"pending"}]}`

func noEnv(string) string { return "/nonexistent" }

// scene is a view at a fixed time with a short conversation.
func scene(t *testing.T) *app {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	a := newApp(t.Context(), nil, Config{Desk: desk.Defaults(), Env: noEnv}, &poddv1.Pod{Name: "greeter", State: poddv1.PodState_POD_STATE_IDLE, Queued: 2})
	a.now = func() time.Time { return now }
	a.ready, a.said = true, ""
	a.usage = usage{tokens: 4000, window: 200000, cost: 0.014}
	a.log.see(item.UserMessage{Text: "look at a.txt please"}, item.AssistantMessage{Text: "I will look at the **workspace** first. 👩‍👩‍👧‍👦 漢字"},
		item.ToolCall{CallID: "c", Name: "shell", Arguments: `{"command":"make"}`},
		item.ToolResult{CallID: "c", Tool: "shell", DurationMS: 12, Output: item.Output{Summary: "shell: make, exit 0: built 4 files; 4 lines", Content: "one\ntwo\nthree\nfour\n"}},
		item.AssistantMessage{Text: strings.Repeat("There is one file, and it has a line that is long. ", 4)})
	return a
}

// scenes are what screens are compared for. All but the first begin with the first.
var scenes = map[string]func(a *app){
	"idle": func(*app) {},
	"running": func(a *app) {
		a.turn, a.pod.State = 3, poddv1.PodState_POD_STATE_RUNNING
		a.activity = activity{"shell", a.now().Add(-72 * time.Second)}
		a.log.see(item.ToolCall{CallID: "t", Name: "todo", Arguments: todoArguments},
			item.ToolResult{CallID: "t", Tool: "todo", Output: item.Output{Summary: "todo: 2 of 6 done"}})
		a.prompt.draft.insert("and now\n@src/ma")
		a.prompt.paths.list, a.prompt.paths.at = []string{"src/main.go", "src/make.go", "src/map.go", "src/mark.go", "src/mask.go"}, 1
	},
	"waiting": func(a *app) {
		a.turn, a.pod.State, a.pod.StateReason = 3, poddv1.PodState_POD_STATE_WAITING, "the endpoint answers 503; trying again at 15:02, for the third time"
		a.activity = activity{"waiting for the model", a.now().Add(-4 * time.Second)}
		a.prompt.plan = true
	},
	"question": func(a *app) {
		a.turn, a.calls.answering = 3, true
		a.calls.questions = []*question{{Approval: &poddv1.Approval{}, shown: view.Approval{Pod: "greeter", Turn: 3, Call: 9, ApprovalRequested: item.ApprovalRequested{
			Tool: "shell", Arguments: `{"command":"make install"}`, Question: "the command \"make install\" may change things outside of the workspace"}}}}
	},
	"rewind": func(a *app) {
		a.confirming = &confirmation{question: "Rewind to before the last prompt? 1 path changed since.", files: func() {}}
	},
	"pictures": func(a *app) {
		a.log.see(item.UserMessage{Text: "and these?", Images: item.NewImages(pictureOf(300, 200), pictureOf(4000, 30))},
			item.ToolCall{CallID: "p", Name: "read_file", Arguments: `{"path":"shot.png"}`},
			item.ToolResult{CallID: "p", Tool: "read_file", Output: item.Output{Summary: "read_file: shot.png, an image", Images: item.NewImages(pictureOf(32, 64))}})
	},
	"queued": func(a *app) {
		a.turn, a.pod.State = 3, poddv1.PodState_POD_STATE_RUNNING
		for _, text := range []string{"then run the tests\nof all packages", "and tell me " + strings.Repeat("what you think ", 12), "commit it", "push it"} {
			a.log.see(item.Submitted{RequestID: text, Text: text})
		}
	},
	"away": func(a *app) { a.away = true; a.log.open = true },
}

// Each state at each size is as in testdata/screens.
func TestScreens(t *testing.T) {
	for name, set := range scenes {
		for _, size := range [][2]int{{80, 24}, {120, 30}, {50, 12}, {30, 6}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				a := scene(t)
				set(a)
				a.columns, a.rows = size[0], size[1]
				lines, row, column := a.draw()
				if len(lines) != a.rows || row < 0 || row >= a.rows || column < 0 || column >= a.columns {
					t.Errorf("%d lines, the cursor at %d, %d", len(lines), row, column)
				}
				var b strings.Builder
				for _, l := range lines {
					fmt.Fprintln(&b, l.Fit(a.columns))
				}
				fmt.Fprintf(&b, "cursor %d,%d\n", row, column)
				golden(t, b.String())
			})
		}
	}
}

func golden(t *testing.T, got string) {
	t.Helper()
	path := filepath.Join("testdata", "screens", filepath.Base(t.Name())+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("the screen is\n%s\nwant\n%s", got, want)
	}
}

// Whatever a terminal sends, the draft holds the text that it shows, within the screen.
func FuzzDraft(f *testing.F) {
	f.Add("a\x1b[200~x\r\x1b[201~b", uint8(80))
	f.Add("👩‍👩‍👧‍👦é\x7f\x1b[D漢\x17\x1b[1;5C\xff", uint8(20))
	f.Add("\x1b[20\x1b\x1b[1;5C\x1b\r", uint8(3))
	f.Fuzz(func(t *testing.T, sent string, columns uint8) {
		a := newApp(t.Context(), nil, Config{Desk: desk.Defaults(), Env: noEnv}, &poddv1.Pod{Name: "p"})
		a.ready, a.said, a.columns, a.rows = true, "", max(int(columns), 1), 24
		a.prompt.paths.find = func(context.Context, string) ([]string, error) { return nil, nil }
		for _, k := range pressed(t, strings.ReplaceAll(sent, last, "")) {
			switch k.kind {
			case keyEnter, keySteer, keyTab, keyEndOfInput, keyEdit: // These ask podd, or leave.
			default:
				a.press(k)
			}
			lines, row, column := a.draw()
			if len(lines) != a.rows || row < 0 || row >= a.rows || column < 0 || column > a.columns {
				t.Fatalf("%q gives %d lines, the cursor at %d, %d", sent, len(lines), row, column)
			}
			for _, l := range lines {
				if strings.ContainsAny(l.String(), "\x1b\r\n\u202e") {
					t.Fatalf("%q shows %q", sent, l)
				}
			}
		}
	})
}
