package attach

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"podd/internal/clients/cells"
	"podd/internal/clients/desk"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// A question about an edit shows its diff, whole; v shows the arguments, which do not count as
// having seen the diff.
func TestPreviewIsSeenBeforeAYes(t *testing.T) {
	a := newApp(t.Context(), nil, Config{Desk: desk.Defaults(), Env: noEnv}, &poddv1.Pod{Name: "p"})
	a.ready, a.columns, a.rows = true, 60, 12
	diff := "@@ -0,0 +1,20 @@\n" + strings.Repeat("+line \x1b[2J\n", 20)
	a.waiting([]*poddv1.Approval{{
		CallSeq: 4, Tool: "write_file", Arguments: `{"path":"f","content":"` + strings.Repeat(`raw\n`, 40) + `"}`, Digest: []byte("digest"),
		Previews: []*poddv1.Preview{{Path: "f", Diff: diff}},
	}})
	m := a
	shown := func() string {
		_ = m.View()
		a.painted.Add(1)
		a.calls.sees(a.painted.Load())
		lines, _, _ := a.draw()
		return texts(lines)
	}
	answer := func(text string) {
		a.calls.answer.insert(text)
		a.decide()
	}
	if got := shown(); !strings.Contains(got, "20 +line \\x1b[2J") || strings.Contains(got, "raw") || strings.Contains(got, "+8 more") {
		t.Errorf("it shows\n%s", got)
	}
	answer("v")
	if got := shown(); !strings.Contains(got, "| raw") || !a.calls.answer.empty() {
		t.Errorf("after v it shows\n%s", got)
	}
	for range 9 {
		shown()
		a.press(key{kind: keyPageUp})
	}
	if answer("y"); a.said != "read all of it first: PgUp" {
		t.Errorf("the arguments count as the diff: %q", a.said)
	}
	a.calls.answer.clear()
	answer("V")
	for range 9 {
		shown()
		a.press(key{kind: keyPageDown})
	}
	for range 5 {
		shown()
		a.press(key{kind: keyPageUp})
	}
	if shown(); !a.calls.questions[0].whole() {
		t.Error("the diff has not been seen")
	}
}

// A question shows all of what runs, in all scripts and on terminals of all kinds and sizes: what
// would not show is an escape.
func TestQuestionShowsWhatRuns(t *testing.T) {
	t.Cleanup(func() { cells.Cluster(false) })
	for _, command := range []string{
		"rm -rf กำ/x && echo क्षमा", "cat ทำน้ำคำ ນ້ຳ", "ls हिन्दी/मैं ক্ষুদ্র தமிழ் ක්ෂ ខ្មែរ မြန်မာ བོད་", "cd 한글 하\u1161\u11ab e\u0301", "echo 👍🏽 🇩🇪 👨‍👩‍👧‍👦 1️⃣ ❤️ ☎︎",
		"echo 🏴\U000e0067\U000e0062\U000e007f می\u200cخواهم مُحَمَّد", "rm a" + strings.Repeat("\u0301\u0302", 20) + "b", "rm " + strings.Repeat("क्", 100) + "ष z",
		"rm " + strings.Repeat("⚡👨‍👩‍👧", 30) + "z", "rm " + strings.Repeat("ᄒ\u1161\u11ab", 60) + "z", "rm " + strings.Repeat("กำ", 60) + "z",
	} {
		arguments, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := sanitize.Exact(command)
		for _, clusters := range []bool{false, true} {
			for _, columns := range []int{40, 77} {
				cells.Cluster(clusters)
				q := &question{Approval: &poddv1.Approval{}, shown: view.Approval{ApprovalRequested: item.ApprovalRequested{Tool: "shell", Arguments: string(arguments)}}}
				p := paint{columns: columns}
				shown := ""
				for _, l := range q.lines(columns) {
					text := ansi.Strip(p.painted(l))
					if cells.Width(text) > columns {
						t.Errorf("%q takes more than %d columns", text, columns)
					}
					for _, lead := range []string{"    command: ", "    | ", "    ↳ "} {
						text = strings.TrimPrefix(text, lead)
					}
					shown += text
				}
				if !strings.Contains(shown, want) {
					t.Errorf("clusters %t, %d columns: %q shows as %q", clusters, columns, want, shown)
				}
			}
		}
	}
}

// Ctrl-Y goes to the question, also if the question is where typed keys go already: the letters
// of an answer never become a prompt.
func TestCtrlYStaysAtTheQuestion(t *testing.T) {
	a := newApp(t.Context(), nil, Config{Desk: desk.Defaults(), Env: noEnv}, &poddv1.Pod{Name: "p"})
	a.ready, a.columns, a.rows = true, 80, 12
	if a.press(key{kind: keyAnswer}); a.calls.answering {
		t.Error("there is no question")
	}
	a.waiting([]*poddv1.Approval{{CallSeq: 3, Tool: "shell", Arguments: `{"command":"date"}`}})
	for range 2 {
		if a.press(key{kind: keyAnswer}); !a.calls.answering {
			t.Error("Ctrl-Y leaves the question")
		}
	}
	if a.press(key{kind: keyEscape}); a.calls.answering {
		t.Error("Esc does not go back to the draft")
	}
}

// Enter adds the rule of always, another key goes back.
func TestRuleIsConfirmed(t *testing.T) {
	for k, want := range map[key]bool{{kind: keyEnter}: true, {kind: keyEscape}: false, {kind: keyText, text: "n"}: false, {kind: keyText, text: "y"}: true} {
		a := newApp(t.Context(), nil, Config{Desk: desk.Defaults(), Env: noEnv}, &poddv1.Pod{Name: "p"})
		a.ready, a.columns, a.rows = true, 80, 12
		added := false
		a.confirming = &confirmation{question: "Add it?", enter: true, yes: func() { added = true }}
		lines, _, _ := a.draw()
		if !strings.Contains(texts(lines), "Add it? [Enter] yes [Esc] no") {
			t.Errorf("it shows\n%s", texts(lines))
		}
		if a.press(k); added != want || a.confirming != nil {
			t.Errorf("%v adds the rule: %v", k, added)
		}
	}
}

// A denial with its reason, typed where the rule is asked about, is the answer to the call.
func TestRuleIsAnsweredWithADenial(t *testing.T) {
	a := newApp(t.Context(), nil, Config{Desk: desk.Defaults(), Env: noEnv}, &poddv1.Pod{Name: "p"})
	a.ready, a.columns, a.rows = true, 80, 12
	a.waiting([]*poddv1.Approval{{CallSeq: 3, Tool: "shell", Arguments: `{"command":"date"}`}})
	a.confirming = &confirmation{question: "Add it?", enter: true, yes: func() { t.Error("the rule was added") }}
	for _, r := range "n not so" {
		a.press(key{kind: keyText, text: string(r)})
	}
	if got := a.calls.answer.text(); got != "n not so" || a.confirming != nil {
		t.Errorf("the answer is %q", got)
	}
}

// A rule that is not on the screen as a whole is not added, however long the call above it is.
func TestRuleIsSeen(t *testing.T) {
	a := newApp(t.Context(), nil, Config{Desk: desk.Defaults(), Env: noEnv}, &poddv1.Pod{Name: "p"})
	a.ready, a.columns, a.rows = true, 80, 12
	for range 50 {
		a.log.notice(plain, "a line of the call")
	}
	added := false
	a.confirming = &confirmation{about: "adds " + strings.Repeat("much ", 300) + "of it", question: "Add it?", enter: true, yes: func() { added = true }}
	if a.press(key{kind: keyEnter}); added || a.confirming == nil {
		t.Error("a rule that is cut is added")
	}
	a.rows = 40
	if lines, _, _ := a.draw(); !strings.Contains(texts(lines), "? adds much") || !strings.Contains(texts(lines), "of it") {
		t.Errorf("it shows\n%s", texts(lines))
	}
	if a.press(key{kind: keyEnter}); !added {
		t.Error("a rule that was seen is not added")
	}
}

// While the view asks about a rule, the keys that scroll show the call, and answer nothing.
func TestRuleIsAskedWhileScrolling(t *testing.T) {
	a := newApp(t.Context(), nil, Config{Desk: desk.Defaults(), Env: noEnv}, &poddv1.Pod{Name: "p"})
	a.ready, a.columns, a.rows = true, 80, 12
	for range 50 {
		a.log.notice(plain, "a line of the call")
	}
	a.log.notice(plain, "the last line")
	a.confirming = &confirmation{question: "Add it?", enter: true, yes: func() { t.Error("the rule was added") }}
	for _, k := range []keyKind{keyPageUp, keyPageDown, keyWheelUp} {
		if a.press(key{kind: k}); a.confirming == nil {
			t.Errorf("the key %v answered the question", k)
		}
	}
	if lines, _, _ := a.draw(); strings.Contains(texts(lines), "the last line") || strings.Contains(texts(lines), "[y] once") {
		t.Errorf("it shows\n%s", texts(lines))
	}
}

// asked is a scene with a question, of which all was on the screen if seen.
func asked(t *testing.T, seen bool) *app {
	a := scene(t)
	a.turn = 3
	a.calls.questions = []*question{{Approval: &poddv1.Approval{}, seen: []bool{seen}}}
	return a
}

// A word that answers is no prompt while a question is open, also if a draft was begun before.
func TestAnswerInTheDraft(t *testing.T) {
	for _, word := range []string{"y", "1", "no", "A"} {
		a := asked(t, false) // The draft is written before the question was whole on the screen.
		for _, r := range word {
			a.press(key{keyText, string(r)})
		}
		a.press(key{kind: keyEnter})
		if !a.calls.answering || a.calls.answer.text() != word || !a.prompt.draft.empty() || a.said == "" {
			t.Errorf("%q: answering %v with %q, the draft is %q", word, a.calls.answering, a.calls.answer.text(), a.prompt.draft.text())
		}
	}
	// In front of the question it is the answer at once: a wrong one is not even sent.
	a := asked(t, true)
	a.press(key{keyText, "v"})
	a.press(key{kind: keyBackspace})
	a.calls.questions[0].seen = []bool{false}
	a.calls.facing = nil
	a.press(key{keyText, "y"})
	a.calls.questions[0].seen = []bool{true}
	if a.calls.facing != nil {
		t.Error("a draft that was begun before the question counts as written in front of it")
	}
	a.prompt.draft.clear()
	a.press(key{keyText, "y"})
	if a.calls.facing != a.calls.questions[0] {
		t.Error("a draft that was begun in front of the question does not count")
	}
	for _, text := range []string{" y", "no tests please", "yes, do it"} {
		a := asked(t, true)
		a.prompt.draft.insert(text)
		if a.answers() {
			t.Errorf("%q is no prompt", text)
		}
	}
}

// Once the draft that a question did not take is gone, keys go to the question, unless the
// person has left it.
func TestQuestionAfterTheDraft(t *testing.T) {
	a := asked(t, true)
	a.prompt.draft.insert("begun")
	a.press(key{kind: keyInterrupt})
	if !a.calls.answering {
		t.Error("the draft is gone, and the question waits for ^Y")
	}
	a.press(key{kind: keyEscape})
	a.prompt.draft.insert("begun")
	a.press(key{kind: keyInterrupt})
	if a.calls.answering {
		t.Error("a question that was left takes the keys again")
	}
}

// A form is answered question by question; what is typed stays a reply until the last one, and a draft that is a prompt is none.
func TestFormIsAnsweredInSteps(t *testing.T) {
	a := newApp(t.Context(), nil, Config{Desk: desk.Defaults(), Env: noEnv}, &poddv1.Pod{Name: "p"})
	a.ready, a.columns, a.rows = true, 60, 20
	a.waiting([]*poddv1.Approval{{CallSeq: 4, Tool: "ask_user", Digest: []byte("digest"), Form: &poddv1.Form{Questions: []*poddv1.FormQuestion{
		{Header: "Database", Text: "Which\x1b one?", Options: []*poddv1.FormOption{{Label: "SQLite"}, {Label: "Postgres"}}}, {Text: "When?"},
	}}}})
	shown := func() string {
		lines, _, _ := a.draw()
		return texts(lines)
	}
	if got := shown(); !strings.Contains(got, "Question 1, Database: Which\\x1b one?") || !strings.Contains(got, "2. Postgres") || !strings.Contains(got, "Answer to question 1 of 2: [1-2] or a text") {
		t.Errorf("it shows\n%s", got)
	}
	a.decide()
	if a.said != "not an answer; [Esc] answers later" {
		t.Errorf("an empty answer: %q", a.said)
	}
	a.calls.answer.insert("2")
	a.decide()
	q := a.calls.questions[0]
	if len(q.replies) != 1 || q.replies[0].Choices[0] != 2 || !strings.Contains(shown(), "Answer to question 2 of 2: a text") {
		t.Errorf("replies %+v; it shows\n%s", q.replies, shown())
	}
	a.calls.answering = false
	a.prompt.draft.insert("yes")
	if a.answers() {
		t.Error("the prompt yes became an answer")
	}
}

// Arrows choose an option, Space marks several, and Enter takes them. A text wins, and an answer that the question does not take stays.
func TestFormIsAnsweredWithArrows(t *testing.T) {
	a := newApp(t.Context(), nil, Config{Desk: desk.Defaults(), Env: noEnv}, &poddv1.Pod{Name: "p"})
	a.ready, a.columns, a.rows = true, 60, 20
	options := []*poddv1.FormOption{{Label: "Red"}, {Label: "Green"}, {Label: "Blue"}}
	a.waiting([]*poddv1.Approval{{CallSeq: 4, Tool: "mcp__desk__book", Digest: []byte("digest"), Form: &poddv1.Form{Questions: []*poddv1.FormQuestion{
		{Text: "One?", Options: options}, {Text: "Some?", Options: options, Multiple: true, Takes: &poddv1.FormTakes{Type: item.TakesOptions, Lower: &poddv1.FormTakes_Min{Min: 2}}}, {Text: "Why?"},
	}}}})
	q := a.calls.questions[0]
	press := func(kinds ...keyKind) string {
		for _, kind := range kinds {
			a.press(key{kind: kind})
		}
		lines, _, _ := a.draw()
		return texts(lines)
	}
	space := func() string {
		a.press(key{kind: keyText, text: " "})
		return press()
	}
	if got := press(keyEnter); a.said != "not an answer; [Esc] answers later" || strings.Contains(got, "Some?") {
		t.Errorf("Enter without a choice says %q; it shows\n%s", a.said, got)
	}
	if got := press(keyUp); !strings.Contains(got, "› 3. Blue") || !strings.Contains(got, "Up/Down choose") {
		t.Errorf("it shows\n%s", got)
	}
	if got := press(keyDown, keyDown); !strings.Contains(got, "› 2. Green") || strings.Contains(got, "› 3.") {
		t.Errorf("it shows\n%s", got)
	}
	if got := press(keyEnter); len(q.replies) != 1 || !slices.Equal(q.replies[0].Choices, []int{2}) || strings.Contains(got, "One?") || !strings.Contains(got, "  [ ] 1. Red") {
		t.Errorf("replies %+v; it shows\n%s", q.replies, got)
	}
	press(keyUp)
	space()
	if press(keyEnter); a.said != "question 2 takes at least 2 options" || len(q.replies) != 1 {
		t.Errorf("one of two at least: %q, replies %+v", a.said, q.replies)
	}
	press(keyDown)
	if got := space(); !strings.Contains(got, "› [x] 1. Red") || !strings.Contains(got, "  [x] 3. Blue") {
		t.Errorf("it shows\n%s", got)
	}
	press(keyDown)
	space()
	space()
	if got := press(keyEnter); len(q.replies) != 2 || !slices.Equal(q.replies[1].Choices, []int{1, 3}) || !strings.Contains(got, "Why?") {
		t.Errorf("replies %+v; it shows\n%s", q.replies, got)
	}
	if press(keyDown, keyEnter); a.said != "not an answer; [Esc] answers later" {
		t.Errorf("a question without options: %q", a.said)
	}
}
